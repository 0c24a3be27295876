// Batches that call back: once, when the last of their requests has ended, and also where the server is killed before.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { gate, lastText, obey, startModel } from '../lib/model.mjs';
import { startReceiver } from '../lib/receiver.mjs';
import { call, eventually, sleep, startServer } from '../lib/server.mjs';

let server, model, receiver, held; // held: by what somebody must say, the gate before the model's answer

before(async () => {
  model = await startModel(async body => {
    for (const [word, at] of held) if (lastText(body).includes(word)) await at.pass();
    return /fail/.test(lastText(body)) ? { status: 401 } : obey(body);
  });
  receiver = await startReceiver();
  server = await startServer({ env: model.env });
});
after(async () => { await server.stop(); model.stop(); receiver.stop(); });
beforeEach(() => { held = new Map(); receiver.got.length = 0; });

const hold = word => { const at = gate(); held.set(word, at); return at; };
const ok = async (where, ...request) => { const answer = await call(where.base, ...request); assert.equal(answer.status, 200, answer.text); return answer.json; };
const newAgent = (where = server) => ok(where, 'POST', '/v1/agents/', { model: model.handle, embedding: 'letta/letta-free', include_base_tools: false, tools: ['memory_insert'] });
const begin = (where, requests, callback = '/here') => ok(where, 'POST', '/v1/messages/batches', {
  requests: requests.map(([agent, text]) => ({ agent_id: agent.id, messages: [{ role: 'user', content: text }] })),
  ...(callback ? { callback_url: `${receiver.base}${callback}` } : {}),
});
const row = (batch, where = server) => ok(where, 'GET', `/v1/messages/batches/${batch.id}`);
const calledBack = (batch, where = server) => eventually(() => row(batch, where), j => j.callback_sent_at);
const due = where => ok(where, 'GET', '/v1/outbox').then(o => o.callbacks_due);
const told = () => receiver.got.map(g => [g.body.job_id, g.body.status]);

describe('a batch with a callback', () => {
  test('posts once, after the last of its requests', async () => {
    const [one, two] = [await newAgent(), await newAgent()], slow = hold('think');
    const batch = await begin(server, [[one, 'say quick'], [two, 'think'], [one, 'say more']]);
    assert.equal(batch.callback_url, `${receiver.base}/here`);
    await slow.arrived;
    await eventually(() => ok(server, 'GET', `/v1/messages/batches/${batch.id}/messages`), x => x.messages.length >= 4);
    assert.deepEqual([(await row(batch)).status, receiver.got.length], ['running', 0]);
    slow.open();
    const done = await calledBack(batch);
    assert.deepEqual([done.status, done.callback_status_code, done.callback_error], ['completed', 200, null]);
    assert.equal(receiver.got.length, 1);
    const [{ path, method, type, body }] = receiver.got;
    assert.deepEqual([path, method], ['/here', 'POST']);
    assert.match(type, /^application\/json/);
    assert.deepEqual(Object.keys(body), ['job_id', 'status', 'completed_at', 'metadata']);
    assert.deepEqual([body.job_id, body.status, body.metadata], [batch.id, 'completed', { job_type: 'batch_messages' }]);
    assert.match(body.completed_at, /^\d{4}-\d\d-\d\dT[\d:.]+$/);
    assert.equal(body.completed_at, done.completed_at);
    assert.deepEqual(await ok(server, 'GET', `/v1/jobs/${batch.id}`), done);
    assert.equal(await due(server), 0);
  });

  test('tells of a failure, and notes one of its own', async () => {
    const agent = await newAgent();
    const failed = await calledBack(await begin(server, [[agent, 'say one'], [agent, 'fail']], '/gone'));
    assert.deepEqual([failed.status, failed.callback_status_code, failed.callback_error], ['failed', 404, null]);
    assert.deepEqual(told(), [[failed.id, 'failed']]);
    const url = 'http://127.0.0.1:9/nobody';
    const unheard = await calledBack(await ok(server, 'POST', '/v1/messages/batches', { requests: [{ agent_id: agent.id, messages: [{ role: 'user', content: 'say two' }] }], callback_url: url }));
    assert.deepEqual([unheard.status, unheard.callback_status_code], ['completed', null]);
    assert.equal(unheard.callback_error, `Failed to dispatch callback for job ${unheard.id} to ${url}: All connection attempts failed`);
  });

  test('is silent when it is cancelled, and where nobody asked', async () => {
    const agent = await newAgent(), slow = hold('think');
    const batch = await begin(server, [[agent, 'think'], [agent, 'say one']]);
    await slow.arrived;
    await ok(server, 'PATCH', `/v1/messages/batches/${batch.id}/cancel`);
    slow.open();
    const plain = await begin(server, [[agent, 'say two']], null);
    assert.equal(plain.callback_url, null);
    await eventually(() => row(plain), j => j.status === 'completed');
    assert.deepEqual([(await row(batch)).status, (await row(batch)).callback_sent_at, told(), await due(server)], ['cancelled', null, [], 0]);
  });

  test('does not wait for an agent that is deleted', async () => {
    const [stays, goes] = [await newAgent(), await newAgent()], slow = hold('think');
    const batch = await begin(server, [[stays, 'say one'], [goes, 'think']]);
    await slow.arrived;
    await ok(server, 'DELETE', `/v1/agents/${goes.id}`);
    slow.open();
    assert.equal((await calledBack(batch)).callback_status_code, 200);
    assert.deepEqual(told(), [[batch.id, 'completed']]);
  });
});

test('a batch that an agent refused in part has failed, and says so at once', async () => {
  const own = await startServer({ env: model.env, args: ['--queue', '1'] });
  try {
    const agent = await newAgent(own), slow = hold('think');
    const batch = await begin(own, [[agent, 'think'], [agent, 'say one'], [agent, 'say two']]);
    assert.equal(batch.status, 'failed');
    assert.equal(batch.metadata.refused.at(-1).agent_id, agent.id);
    assert.match(batch.metadata.refused.at(-1).error, /Too many requests are waiting/);
    const done = await calledBack(batch, own);
    assert.deepEqual(receiver.got.map(g => g.body), [{ job_id: batch.id, status: 'failed', completed_at: done.completed_at, metadata: batch.metadata }]);
    slow.open();
    await eventually(() => ok(own, 'GET', `/v1/runs/?agent_id=${agent.id}`), list => list.every(r => r.completed_at));
    const ends = (await ok(own, 'GET', `/v1/runs/?agent_id=${agent.id}&order=asc`)).map(r => r.status);
    assert.equal(ends.filter(s => s === 'failed').length, batch.metadata.refused.length);
    assert.equal(ends.length, 3);
    await sleep(100);
    assert.equal(receiver.got.length, 1);
  } finally { await own.stop(); }
});

describe('a batch over a crash', () => {
  test('goes on and calls back, once', async () => {
    const own = await startServer({ env: model.env });
    const [one, two] = [await newAgent(own), await newAgent(own)], slow = hold('think');
    const batch = await begin(own, [[one, 'say quick'], [two, 'think']]);
    await slow.arrived;
    await eventually(() => ok(own, 'GET', `/v1/messages/batches/${batch.id}/messages`), x => x.messages.length >= 2);
    await own.kill();
    const again = await startServer({ env: model.env, data: own.data });
    try {
      assert.deepEqual([(await row(batch, again)).status, told()], ['running', []]);
      slow.open();
      const done = await calledBack(batch, again);
      assert.deepEqual([done.status, done.callback_status_code], ['completed', 200]);
      assert.deepEqual(told(), [[batch.id, 'completed']]);
    } finally { await again.stop(); }
  });

  test('that had ended is told of again where nobody had answered, and then no more', async () => {
    const own = await startServer({ env: model.env });
    const agent = await newAgent(own);
    const batch = await begin(own, [[agent, 'say one'], [agent, 'say two']], '/held');
    await eventually(() => receiver.got.length, n => n === 1);
    assert.equal(await due(own), 1);
    await own.kill();
    let again = await startServer({ env: model.env, data: own.data });
    await eventually(() => receiver.got.length, n => n === 2);
    assert.deepEqual(receiver.got[1], receiver.got[0]);
    const late = await calledBack(batch, again); // nobody answers: after its five seconds
    assert.deepEqual([late.status, late.callback_status_code], ['completed', null]);
    assert.match(late.callback_error, /^Failed to dispatch callback for job /);
    await again.kill();
    again = await startServer({ env: model.env, data: own.data });
    try {
      assert.equal(await due(again), 0);
      await sleep(200);
      assert.equal(receiver.got.length, 2);
    } finally { await again.stop(); }
  });
});
