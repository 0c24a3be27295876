// Companions through the TypeScript SDK: they tidy up the memory that they share with their agent, in the background,
// also over a kill -9. The model of the test is held and opened; no clock decides.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import Letta from '@letta-ai/letta-client';
import { call, eventually, startServer } from '../lib/server.mjs';
import { gate, lastText, startModel } from '../lib/model.mjs';

// A companion writes down what it is to remember, and finishes; everybody else repeats what was said.
const told = [];
let held, refuse;
async function decide(body) {
  const text = lastText(body), isCompanion = body.tools?.some(t => t.function.name === 'memory_finish_edits');
  if (!isCompanion) return { text: `I hear: ${text}` };
  const afterTool = body.messages.at(-1).role === 'tool';
  told.push(afterTool ? 'tool' : text);
  if (held && (!held.where || (held.where === 'tool') === afterTool)) await held.pass();
  if (refuse?.()) return { status: 401 };
  const facts = afterTool ? [] : [...text.matchAll(/^user: .*remember (\w+)/gm)].map(m => m[1]);
  return { calls: [facts.length ? { name: 'memory_insert', args: { label: 'human', new_string: facts.join(' ') } } : { name: 'memory_finish_edits', args: {} }] };
}
const hold = where => { held = Object.assign(gate(), { where }); return held; };

let model, server, client;
const at = s => new Letta({ baseURL: s.base });
before(async () => { model = await startModel(decide); server = await startServer({ env: model.env }); client = at(server); });
after(async () => { await server.stop(); await model.stop(); });
beforeEach(() => { told.length = 0; held?.open(); held = refuse = undefined; });

let made = 0;
async function pair(c, frequency = 1) {
  const agent = await c.agents.create({ name: `talker ${++made}`, model: 'openai-proxy/mock', enable_sleeptime: true, memory_blocks: [{ label: 'human', value: '' }] });
  const group = agent.managed_group;
  const config = { manager_type: 'sleeptime', sleeptime_agent_frequency: frequency };
  await c.patch(`/v1/groups/${group.id}`, { body: { manager_config: config } });
  return { id: agent.id, group: group.id, companion: group.agent_ids[0] };
}
const say = async (p, text, c = client) => (await c.agents.messages.create(p.id, { messages: [{ role: 'user', content: text }] })).usage.run_ids;
const ended = (id, c = client) => eventually(() => c.runs.retrieve(id), r => r.completed_at);
const memory = async (p, c = client) => (await c.agents.blocks.retrieve('human', { agent_id: p.id })).value;
const work = async (p, s = server) => (await call(s.base, 'GET', `/v1/groups/${p.group}/sleeptime`)).json;

describe('a companion', () => {
  test('writes into the memory that both share, and its run shows what it did', async () => {
    const p = await pair(client);
    const [run] = await say(p, 'remember apples');
    const done = await ended(run);
    assert.deepEqual([done.status, done.stop_reason, done.agent_id], ['completed', 'tool_rule', p.companion]);
    assert.deepEqual(done.metadata.result.messages.map(m => m.message_type), ['tool_call_message', 'tool_return_message', 'tool_call_message', 'tool_return_message']);
    assert.equal(done.metadata.result.usage.step_count, 2);
    assert.match(await memory(p), /apples/);
    assert.match(told[0], /\nuser: remember apples\nassistant: I hear: remember apples$/);
    assert.deepEqual((await work(p)).map(j => [j.agent_id, j.state, j.messages_behind, j.last_error]), [[p.companion, 'idle', 0, null]]);
    const messages = (await client.runs.messages.list(run)).items;
    assert.equal(messages.length, 5);
  });

  test('is told of many turns at once where it is slow, and every run id can be followed', async () => {
    const p = await pair(client), slow = hold();
    const runs = [];
    for (let i = 0; i < 10; ++i) runs.push(...await say(p, `remember n${i}`));
    assert.equal(runs.length, 10);
    await slow.arrived; // it begins in a pause, but with what it was to be told first
    const [now] = await work(p);
    assert.deepEqual([now.state, now.run_id, now.waiting_run_ids.length], ['working', runs[0], 9]);
    slow.open();
    const rows = await Promise.all(runs.map(id => ended(id)));
    assert.ok(rows.every(r => r.status === 'completed'));
    assert.ok(rows.slice(2).every(r => r.metadata.coalesced_into === runs[1]));
    for (let i = 0; i < 10; ++i) assert.equal((await memory(p)).split(`n${i}`).length, 2, 'written once');
    assert.equal(told.filter(t => t !== 'tool').length, 2);
  });

  test('is told every second turn, of both', async () => {
    const p = await pair(client, 2);
    const ids = [];
    for (let i = 1; i <= 4; ++i) ids.push(await say(p, `remember t${i}`));
    assert.deepEqual(ids.map(x => x?.length ?? null), [1, null, 1, null]);
    await ended(ids[2][0]);
    const group = (await call(server.base, 'GET', `/v1/groups/${p.group}`)).json;
    assert.equal(group.turns_counter, 1);
    assert.match(await memory(p), /t1[^]*t2[^]*t3/);
  });

  test('that fails says so on its run and its group, and what it missed is told later', async () => {
    const p = await pair(client);
    refuse = () => true;
    const [first] = await say(p, 'remember one');
    const failed = await ended(first);
    assert.deepEqual([failed.status, failed.stop_reason], ['failed', 'error']);
    assert.equal(typeof failed.metadata.error, 'string');
    const [job] = await work(p);
    assert.deepEqual([job.state, job.last_error, job.messages_behind], ['failed', failed.metadata.error, 2]);
    assert.match((await call(server.base, 'GET', '/v1/metrics')).text, /^troupe_companions\{state="failing"\} 1$/m);
    refuse = undefined;
    const [second] = await say(p, 'remember two');
    assert.equal((await ended(second)).status, 'completed');
    assert.match(await memory(p), /one two/);
    assert.equal((await work(p))[0].last_error, null);
  });

  test('never keeps its agent waiting', async () => {
    const p = await pair(client), slow = hold();
    await say(p, 'remember one');
    await slow.arrived;
    for (let i = 0; i < 5; ++i) await say(p, 'go on');
    await client.agents.blocks.update('human', { agent_id: p.id, value: 'set by hand' });
    slow.open();
    await eventually(() => work(p), jobs => jobs[0].state === 'idle');
    assert.match(await memory(p), /set by hand/);
    assert.match(await memory(p), /one/);
  });

  test('stops when sleeptime is switched off, and when its group is deleted', async () => {
    const p = await pair(client), slow = hold();
    const [first] = await say(p, 'remember one'), [second] = await say(p, 'remember two');
    await slow.arrived;
    await client.agents.update(p.id, { enable_sleeptime: false });
    assert.equal((await client.runs.retrieve(second)).status, 'cancelled');
    assert.equal(await say(p, 'three'), null);
    assert.equal((await call(server.base, 'DELETE', `/v1/groups/${p.group}`)).status, 200);
    assert.equal((await client.runs.retrieve(first)).status, 'cancelled');
    slow.open();
    assert.equal(await memory(p), '');
    assert.equal((await call(server.base, 'GET', `/v1/groups/${p.group}/sleeptime`)).status, 404);
  });

  for (const where of ['user', 'tool']) {
    test(`goes on after kill -9, its model asked by the ${where}`, async () => {
      const own = await startServer({ env: model.env });
      const p = await pair(at(own)), slow = hold(where);
      const [run] = await say(p, 'remember apples', at(own));
      await slow.arrived;
      const [later] = await say(p, 'remember pears', at(own));
      await own.kill();
      const again = await startServer({ env: model.env, data: own.data, port: own.port });
      const c = at(again);
      try {
        slow.open();
        for (const id of [run, later]) assert.equal((await ended(id, c)).status, 'completed');
        for (const fact of ['apples', 'pears']) assert.equal((await memory(p, c)).split(fact).length, 2, `${fact} once`);
        assert.ok(told.filter(t => t.includes('user: remember apples')).length <= 2, 'at most one call is repeated');
        assert.deepEqual((await work(p, again)).map(j => j.state), ['idle']);
      } finally { await again.stop(); }
    });
  }
});
