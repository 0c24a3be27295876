// serve --test-clock: pauses, retries and deadlines of hours, in a test that does not sleep.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { call, eventually, sleep, startServer, temporaryFolder } from '../lib/server.mjs';

const script = {
  scenes: [
    { offered: 'memory_finish_edits', user: 'down', replies: [{ say: [{ error: 503, message: 'not now' }] }] },
    { offered: 'memory_finish_edits', replies: [{ say: [{ call: 'memory_finish_edits', arguments: {} }] }] },
    { system: 'I am hanging', replies: [{ say: [{ hang: true }] }] },
  ],
  otherwise: { say: [{ text: 'yes' }] },
};
const file = path.join(temporaryFolder(), 'clock.json');
fs.writeFileSync(file, JSON.stringify(script));

let server;
before(async () => { server = await startServer({ args: ['--test-clock', '--rehearsal', file] }); });
after(() => server.stop());

const ok = async (method, target, body) => {
  const answer = await call(server.base, method, target, body);
  assert.equal(answer.status, 200, `${method} ${target}: ${answer.text}`);
  return answer.json;
};
const hours = n => n * 3_600_000;
const advance = ms => ok('POST', '/v1/_test/clock', { advance_ms: ms });
const agent = (persona, more) => ok('POST', '/v1/agents/', { model: 'rehearsal/clock', include_base_tools: false, memory_blocks: [{ label: 'persona', value: persona }], ...more });
const say = (a, content) => ok('POST', `/v1/agents/${a.id}/messages`, { messages: [{ role: 'user', content }] });
const run = id => ok('GET', `/v1/runs/${id}`);

async function remembering(manager_config) {
  const a = await agent('I am main', { enable_sleeptime: true });
  const group = a.multi_agent_group.id;
  await ok('PATCH', `/v1/groups/${group}`, { manager_config: { manager_type: 'sleeptime', sleeptime_agent_frequency: 1, ...manager_config } });
  return { ...a, group };
}

describe('the clock', () => {
  test('goes forward, and never back', async () => {
    const began = Date.parse((await ok('GET', '/v1/_test/clock')).now);
    assert.ok(Math.abs(began - Date.now()) < 5_000);
    const ahead = Date.parse((await advance(hours(24))).now) - began;
    assert.ok(ahead >= hours(24) && ahead < hours(24) + 5_000);
    assert.ok(Date.parse((await agent('new')).created_at) - began >= hours(24));
    for (const body of [{ advance_ms: -1 }, { advance_ms: 'much' }, { advance_ms: 1e18 }, {}, '['])
      assert.equal((await call(server.base, 'POST', '/v1/_test/clock', body)).status, 422);
    assert.equal((await call(server.base, 'PUT', '/v1/_test/clock', {})).status, 405);
  });

  test('a companion waits until it was quiet for an hour', async () => {
    const a = await remembering({ idle_seconds: 3_600 });
    const first = (await say(a, 'one')).usage.run_ids[0];
    await advance(hours(0.9));
    await say(a, 'two');
    await advance(hours(0.9));
    await sleep(100);
    assert.equal((await run(first)).status, 'created');
    await advance(hours(0.2));
    await eventually(() => run(first), r => r.status === 'completed');
  });

  test('a companion whose model is down is tried again later and later', async () => {
    const a = await remembering();
    const first = (await say(a, 'down')).usage.run_ids[0];
    const state = () => ok('GET', `/v1/groups/${a.group}/sleeptime`).then(jobs => jobs[0]);
    for (let tries = 1; tries <= 2; ++tries) {
      const job = await eventually(state, j => j.failed_tries === tries && j.state === 'waits for another try');
      assert.match(job.last_error, /not now/);
      await advance(60_000);
    }
    await eventually(() => run(first), r => r.status === 'failed');
  });

  test('a member that hangs has its time, and the others go on', async () => {
    const [hanging, other] = [await agent('I am hanging'), await agent('I am well')];
    const g = await ok('POST', '/v1/groups/', { agent_ids: [hanging.id, other.id], description: 'a test', manager_config: { manager_type: 'round_robin', member_deadline_s: 600, on_member_error: 'skip' } });
    const begun = await ok('POST', `/v1/groups/${g.id}/messages/async`, { messages: [{ role: 'user', content: 'hello' }] });
    const trace = () => call(server.base, 'GET', `/v1/groups/${g.id}/runs/${begun.id}/trace`).then(t => t.json?.parts?.[0]?.status);
    await eventually(trace, status => status !== undefined);
    await advance(599_000);
    await sleep(100);
    assert.notEqual(await trace(), 'cancelled');
    await advance(1_000);
    await eventually(() => run(begun.id), r => r.status === 'completed');
    const talk = await ok('GET', `/v1/groups/${g.id}/messages?view=conversation`);
    assert.deepEqual(talk.map(m => m.content).slice(2), ['yes']);
  });
});

test('without --test-clock there is no such path', async () => {
  const plain = await startServer();
  for (const method of ['GET', 'POST']) assert.equal((await call(plain.base, method, '/v1/_test/clock', method === 'POST' ? { advance_ms: 1 } : undefined)).status, 404);
  await plain.stop();
});

test('who may not come in may not set the clock', async () => {
  const safe = await startServer({ args: ['--test-clock', '--secure'], env: { LETTA_SERVER_PASSWORD: 'secret' } });
  assert.equal((await call(safe.base, 'POST', '/v1/_test/clock', { advance_ms: 1 })).status, 401);
  assert.equal((await call(safe.base, 'POST', '/v1/_test/clock', { advance_ms: 1 }, { authorization: 'Bearer secret' })).status, 200);
  await safe.stop();
});
