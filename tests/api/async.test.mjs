// Runs without a client that waits: asynchronous and in the background, their callbacks, cancelling in every mode, and
// what becomes of them when the server is killed. The model of the test is held and opened; no clock decides.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import Letta from '@letta-ai/letta-client';
import { gate, lastText, obey, startModel } from '../lib/model.mjs';
import { startReceiver } from '../lib/receiver.mjs';
import { eventually, startServer } from '../lib/server.mjs';
import { ways } from '../lib/turns.mjs';

let server, model, client, receiver, held, asked; // held: by what somebody must say, the gate before the model's answer

async function decide(body) {
  const text = lastText(body);
  asked.push(text);
  for (const [word, at] of held) if (text.includes(word)) await at.pass();
  return obey(body);
}
const hold = word => { const at = gate(); held.set(word, at); return at; };

before(async () => {
  model = await startModel(decide);
  receiver = await startReceiver();
  server = await startServer({ env: model.env });
  client = at(server);
});
after(async () => { await server.stop(); model.stop(); receiver.stop(); });
beforeEach(() => { held = new Map(); asked = []; receiver.got.length = 0; });

const at = where => new Letta({ baseURL: where.base, maxRetries: 0 });
const newAgent = (c = client) => c.agents.create({ model: model.handle, embedding: 'letta/letta-free', include_base_tools: false, tools: ['memory_insert'], memory_blocks: [{ label: 'notes', value: 'paper' }] });
const user = content => ({ messages: [{ role: 'user', content }] });
const start = (agent, text, more = {}, c = client) => c.agents.messages.createAsync(agent.id, { ...user(text), ...more });
const ended = (run, c = client) => eventually(() => c.runs.retrieve(run.id), r => r.completed_at);
const listed = async (agent, c = client) => (await c.agents.messages.list(agent.id, { order: 'asc', limit: 100 })).items;
// Its runs, once there are so many: the model is asked while the row is still on its way to the disk.
const runsOf = (agent, count) => eventually(async () => (await client.runs.list({ agent_id: agent.id, order: 'asc' })).items, list => list.length === count);
const talk = async (agent, c = client) => (await listed(agent, c)).slice(1).map(m => m.content ?? m.message_type);
const calledBack = run => eventually(() => client.runs.retrieve(run.id), r => r.callback_sent_at);

describe('an asynchronous run', () => {
  test('is the answer at once, and is asked after until it has ended', async () => {
    const agent = await newAgent(), slow = hold('think');
    const run = await start(agent, 'think of a number');
    assert.match(run.id, /^run-/);
    assert.deepEqual([run.status, run.agent_id, run.background, run.completed_at, run.metadata.run_type], ['created', agent.id, true, null, 'send_message_async']);
    await slow.arrived;
    assert.equal((await client.runs.retrieve(run.id)).completed_at, null);
    assert.deepEqual((await client.runs.list({ agent_id: agent.id, active: true })).items.map(r => r.id), [run.id]);
    slow.open();
    const done = await ended(run);
    assert.deepEqual([done.status, done.stop_reason], ['completed', 'end_turn']);
    assert.deepEqual((await client.runs.messages.list(run.id)).items.map(m => [m.message_type, m.content]), [['user_message', 'think of a number'], ['assistant_message', 'think of a number']]);
    assert.equal((await client.runs.usage.retrieve(run.id)).total_tokens, 30);
    assert.equal((await client.runs.steps.list(run.id)).items.length, 1);
    assert.equal(done.callback_sent_at, null, 'nobody wants to be called');
  });

  test('fails on its own where the model does', async () => {
    const agent = await newAgent();
    const run = await start(agent, 'x', { messages: [{ type: 'approval', approvals: [{ type: 'approval', tool_call_id: 'call_1', approve: true }] }] });
    const done = await ended(run);
    assert.deepEqual([done.status, done.stop_reason], ['failed', 'error']);
    assert.match(done.metadata.error, /No tool call is currently awaiting approval/);
  });

  test('is refused at once where it cannot begin', async () => {
    await assert.rejects(start({ id: 'agent-00000000-0000-4000-8000-000000000000' }, 'x'), Letta.NotFoundError);
    await assert.rejects(start(await newAgent(), 'x', { messages: [] }), Letta.UnprocessableEntityError);
  });

  test('waits its turn behind another', async () => {
    const agent = await newAgent(), slow = hold('one');
    const first = await start(agent, 'say one');
    await slow.arrived;
    const second = await start(agent, 'say two');
    assert.deepEqual(asked, ['say one']);
    slow.open();
    await ended(first);
    await ended(second);
    assert.deepEqual(await talk(agent), ['say one', 'one', 'say two', 'two']);
  });
});

describe('a callback', () => {
  test('is posted once with the run and its messages', async () => {
    const agent = await newAgent();
    const run = await start(agent, 'say hello', { callback_url: `${receiver.base}/here` });
    assert.equal(run.callback_url, `${receiver.base}/here`);
    const done = await calledBack(run);
    assert.deepEqual([done.callback_status_code, done.callback_error], [200, null]);
    assert.equal(receiver.got.length, 1);
    const [{ path, method, type, body }] = receiver.got;
    assert.deepEqual([path, method], ['/here', 'POST']);
    assert.match(type, /^application\/json/);
    assert.deepEqual([body.run_id, body.status], [run.id, 'completed']);
    assert.match(body.completed_at, /^\d{4}-\d\d-\d\dT[\d:.]+$/);
    assert.equal(body.metadata.run_type, 'send_message_async');
    const { messages, stop_reason, usage } = body.metadata.result;
    assert.deepEqual(messages.map(m => [m.message_type, m.content]), [['user_message', 'say hello'], ['assistant_message', 'hello']]);
    assert.deepEqual(messages, (await client.runs.messages.list(run.id)).items);
    assert.deepEqual([stop_reason.stop_reason, usage.total_tokens], ['end_turn', 30]);
    assert.equal(done.metadata.result, undefined, 'the result is not kept on the run');
  });

  test('that fails is noted, not raised', async () => {
    const agent = await newAgent();
    const gone = await calledBack(await start(agent, 'say one', { callback_url: `${receiver.base}/gone` }));
    assert.deepEqual([gone.status, gone.callback_status_code, gone.callback_error], ['completed', 404, null]);
    for (const callback_url of ['http://127.0.0.1:9/nobody', 'no address']) {
      const unheard = await calledBack(await start(agent, 'say two', { callback_url }));
      assert.deepEqual([unheard.status, unheard.callback_status_code], ['completed', null]);
      assert.ok(unheard.callback_error, callback_url);
    }
    assert.equal(receiver.got.length, 1);
  });

  test('tells of a cancelled run too', async () => {
    const agent = await newAgent(), slow = hold('think');
    const run = await start(agent, 'think', { callback_url: `${receiver.base}/here` });
    await slow.arrived;
    await client.agents.messages.cancel(agent.id);
    await calledBack(run);
    assert.deepEqual(receiver.got.map(g => [g.body.run_id, g.body.status]), [[run.id, 'cancelled']]);
    slow.open();
  });
});

describe('cancelling', () => {
  const send = { ...ways, async: async (c, id, body) => { const run = await c.agents.messages.createAsync(id, body); return { run: run.id, stop: (await ended(run, c)).stop_reason }; } };

  for (const [way, go] of Object.entries(send)) {
    test(`a turn that works, ${way}`, async () => {
      const agent = await newAgent(), slow = hold('think');
      const turn = go(client, agent.id, user('think'));
      await slow.arrived;
      const [run] = await runsOf(agent, 1);
      assert.deepEqual(await client.agents.messages.cancel(agent.id), { [run.id]: 'cancelled' });
      assert.equal((await turn).stop, 'cancelled', 'the model need not answer first');
      slow.open();
      const row = await client.runs.retrieve(run.id);
      assert.deepEqual([row.status, row.stop_reason], ['cancelled', 'cancelled']);
      assert.deepEqual(await client.agents.messages.cancel(agent.id, { run_ids: [run.id, 'run-nobody'] }), { [run.id]: 'cancelled', 'run-nobody': 'failed' });
      held.clear();
      assert.equal((await ways.blocking(client, agent.id, user('say on'))).said, 'on');
    });

    test(`a turn that waits behind another, ${way}`, async () => {
      const agent = await newAgent(), slow = hold('one');
      const first = ways.blocking(client, agent.id, user('say one'));
      await slow.arrived;
      await runsOf(agent, 1);
      const second = go(client, agent.id, user('say two'));
      const [, { id: waiting }] = await runsOf(agent, 2);
      assert.deepEqual(await client.agents.messages.cancel(agent.id, { run_ids: [waiting] }), { [waiting]: 'cancelled' });
      assert.equal((await second).stop, 'cancelled', 'it need not wait for its turn');
      slow.open();
      assert.deepEqual([(await first).said, (await first).stop], ['one', 'end_turn']);
      assert.deepEqual(await talk(agent), ['say one', 'one']);
    });
  }

  test('keeps the steps that were done', async () => {
    const agent = await newAgent(), slow = hold('"status"'); // of the result of the tool
    const turn = ways.steps(client, agent.id, user('call memory_insert {"label":"notes","new_string":"red"}'));
    await slow.arrived;
    await client.agents.messages.cancel(agent.id);
    assert.equal((await turn).stop, 'cancelled');
    slow.open();
    assert.deepEqual((await listed(agent)).slice(1).map(m => m.message_type), ['user_message', 'tool_call_message', 'tool_return_message']);
  });

  test('what has ended already does not wait for what works', async () => {
    const agent = await newAgent(), slow = hold('think');
    const { run } = await ways.blocking(client, agent.id, user('say one'));
    const turn = ways.blocking(client, agent.id, user('think'));
    await slow.arrived;
    assert.deepEqual(await client.agents.messages.cancel(agent.id, { run_ids: [run] }, { timeout: 20_000 }), { [run]: 'cancelled' });
    assert.equal((await client.runs.retrieve(run)).status, 'completed');
    slow.open();
    assert.equal((await turn).said, 'think');
  });

  test('of a conversation leaves the others alone', async () => {
    const agent = await newAgent(), slow = hold('think');
    const conversation = await client.conversations.create({ agent_id: agent.id });
    const beside = ways.blocking(client, agent.id, user('think beside'));
    const stream = await client.conversations.messages.create(conversation.id, user('think'));
    await eventually(() => asked.length, n => n === 2);
    await runsOf(agent, 2);
    const cancelled = await client.conversations.cancel(conversation.id);
    assert.deepEqual(Object.values(cancelled), ['cancelled']);
    const events = [];
    for await (const event of stream) events.push(event);
    assert.equal(events.filter(e => e.message_type === 'stop_reason').at(-1).stop_reason, 'cancelled');
    await assert.rejects(client.conversations.cancel(conversation.id), Letta.ConflictError);
    slow.open();
    assert.equal((await beside).stop, 'end_turn');
  });
});

describe('a run over a crash', () => {
  // Kills the server while the model is held, starts it again on the same folder and address, and lets the model answer.
  async function crash(text, begin, where = 'think') {
    const own = await startServer({ env: model.env });
    const agent = await newAgent(at(own)), slow = hold(where);
    const run = await begin(own, agent, text);
    await slow.arrived;
    await own.kill();
    const again = await startServer({ env: model.env, data: own.data, port: own.port });
    return { run, agent, slow, again, c: at(again) };
  }
  const background = async (own, agent, text) => {
    const stream = await at(own).agents.messages.create(agent.id, { ...user(text), streaming: true, background: true });
    for await (const event of stream) return { id: event.run_id };
  };
  const begins = { asynchronous: (own, agent, text) => start(agent, text, { callback_url: `${receiver.base}/here` }, at(own)), background };

  for (const [kind, begin] of Object.entries(begins)) {
    test(`goes on and completes, ${kind}`, async () => {
      const { run, agent, slow, again, c } = await crash('think twice', begin);
      try {
        await eventually(() => asked.length, n => n === 2);
        assert.equal((await c.runs.retrieve(run.id)).completed_at, null);
        slow.open();
        const done = await ended(run, c);
        assert.deepEqual([done.status, done.stop_reason], ['completed', 'end_turn']);
        assert.deepEqual(await talk(agent, c), ['think twice', 'think twice'], 'asked and said once');
        assert.deepEqual((await c.runs.messages.list(run.id)).items.length, 2);
        assert.equal((await ways.blocking(c, agent.id, user('say on'))).said, 'on');
      } finally { await again.stop(); }
    });

    test(`does not do again what it has done, ${kind}`, async () => {
      const { run, agent, slow, again, c } = await crash('call memory_insert {"label":"notes","new_string":"red"}', begin, '"status"');
      try {
        slow.open();
        assert.equal((await ended(run, c)).status, 'completed');
        assert.equal((await c.agents.blocks.retrieve('notes', { agent_id: agent.id })).value, 'paper\nred');
        assert.deepEqual((await listed(agent, c)).slice(1).map(m => m.message_type), ['user_message', 'tool_call_message', 'tool_return_message', 'assistant_message']);
      } finally { await again.stop(); }
    });
  }

  test('calls back after the restart, once', async () => {
    const { run, slow, again, c } = await crash('think', begins.asynchronous);
    try {
      slow.open();
      const done = await eventually(() => c.runs.retrieve(run.id), r => r.callback_sent_at);
      assert.equal(done.callback_status_code, 200);
      assert.deepEqual(receiver.got.map(g => [g.body.run_id, g.body.status, g.body.metadata.result.messages.length]), [[run.id, 'completed', 2]]);
    } finally { await again.stop(); }
  });

  test('that had ended calls back again where nobody answered', async () => {
    const own = await startServer({ env: model.env });
    const agent = await newAgent(at(own));
    const run = await start(agent, 'say hello', { callback_url: `${receiver.base}/held` }, at(own));
    await eventually(() => receiver.got.length, n => n === 1);
    await own.kill();
    const again = await startServer({ env: model.env, data: own.data });
    try {
      await eventually(() => receiver.got.length, n => n === 2);
      assert.deepEqual(receiver.got[1], receiver.got[0]);
      assert.deepEqual(await talk(agent, at(again)), ['say hello', 'hello']);
      assert.equal((await at(again).runs.retrieve(run.id)).status, 'completed');
    } finally { await again.kill(); }
  });

  test('whose client was waiting has failed', async () => {
    const own = await startServer({ env: model.env });
    const agent = await newAgent(at(own)), slow = hold('think');
    const turn = assert.rejects(ways.blocking(at(own), agent.id, user('think')));
    await slow.arrived;
    await eventually(async () => (await at(own).runs.list({ agent_id: agent.id })).items.length, n => n === 1);
    await own.kill();
    await turn;
    const again = await startServer({ env: model.env, data: own.data });
    try {
      const [run] = (await at(again).runs.list({ agent_id: agent.id })).items;
      assert.deepEqual([run.status, run.stop_reason], ['failed', 'error']);
      assert.ok(run.completed_at && run.metadata.error);
      slow.open();
      assert.equal((await ways.blocking(at(again), agent.id, user('say on'))).said, 'on');
      assert.deepEqual(await talk(agent, at(again)), ['say on', 'on']);
    } finally { await again.stop(); }
  });

  test('that waits behind another keeps its place', async () => {
    const own = await startServer({ env: model.env });
    const agent = await newAgent(at(own)), slow = hold('one');
    const runs = [await start(agent, 'say one', {}, at(own)), await start(agent, 'say two', {}, at(own)), await start(agent, 'say three', {}, at(own))];
    await slow.arrived;
    await own.kill();
    const again = await startServer({ env: model.env, data: own.data });
    try {
      slow.open();
      for (const run of runs) assert.equal((await ended(run, at(again))).status, 'completed');
      assert.deepEqual(await talk(agent, at(again)), ['say one', 'one', 'say two', 'two', 'say three', 'three']);
    } finally { await again.stop(); }
  });

  test('is cancelled for good', async () => {
    const { run, agent, slow, again, c } = await crash('think', begins.asynchronous);
    try {
      await eventually(() => asked.length, n => n === 2);
      assert.deepEqual(await c.agents.messages.cancel(agent.id), { [run.id]: 'cancelled' });
      assert.equal((await ended(run, c)).status, 'cancelled');
      slow.open();
      await again.kill();
      held.clear();
      const third = await startServer({ env: model.env, data: again.data });
      const count = asked.length;
      assert.equal((await at(third).runs.retrieve(run.id)).status, 'cancelled');
      assert.equal((await ways.blocking(at(third), agent.id, user('say on'))).said, 'on');
      assert.deepEqual(asked.slice(count), ['say on']);
      await third.stop();
    } finally { await again.kill(); }
  });
});
