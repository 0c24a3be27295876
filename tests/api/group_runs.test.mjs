// Groups that run: what is sent to them, streamed from them, kept over a kill -9 (reference: groups §2.1–2.3, §7.5).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { frames } from '../lib/openapi.mjs';
import { call, eventually, startServer, temporaryFolder } from '../lib/server.mjs';

// Everybody says who they are; a manager that may ask everybody does, one that is to choose chooses.
const script = {
  scenes: [
    { user: 'plan and talk', offered: 'send_message_to_all_agents_in_group', replies: [
      { say: [{ reasoning: 'They know.' }, { call: 'send_message_to_all_agents_in_group', arguments: { message: 'what do you think?' } }] }] },
    { user: 'plan and talk', offered: 'send_message', replies: [
      { say: [] }, { say: [{ reasoning: 'Good.' }, { call: 'send_message', arguments: { message: 'together' } }] }] },
    { offered: 'send_message', replies: [{ say: [{ reasoning: 'Hm.' }, { call: 'send_message', arguments: { message: '{{memory.persona}} speaks' } }] }] },
    { offered: 'send_message_to_all_agents_in_group', user: 'plan', replies: [
      { say: [{ call: 'send_message_to_all_agents_in_group', arguments: { message: 'what do you think?' } }] },
      { say: [{ text: 'Together: {{result}}' }] }] },
    { offered: 'choose_next_participant', user: '\\n- ([^ ]+) ', replies: [{ say: [{ text: 'I choose {{1}}' }] }] },
    { offered: 'hand_off', user: 'sum.*', blocks: 'desk', replies: [
      { say: [{ call: 'hand_off', arguments: { agent_id: '{{memory.desk}}', reason: 'it can add' } }] }] },
    { user: 'fail', blocks: 'weak', replies: [{ say: [{ error: 400, message: 'no' }] }] },
    { user: 'slow', replies: [{ say: [{ delay_ms: 300 }, { text: '{{memory.persona}} after a while' }] }] },
    { user: 'hang', blocks: 'weak', replies: [{ say: [{ hang: true }] }] },
  ],
  otherwise: { say: [{ text: '{{memory.persona}} heard {{turn}}' }] },
};

const folder = temporaryFolder();
const file = path.join(folder, 'cast.json');
fs.writeFileSync(file, JSON.stringify(script));
const args = ['--rehearsal', file];

let server;
before(async () => { server = await startServer({ args }); });
after(() => server.stop());

const api = (method, target, body, headers) => call(server.base, method, target, body, headers);
const ok = async (method, target, body) => {
  const answer = await api(method, target, body);
  assert.equal(answer.status, 200, `${method} ${target}: ${answer.text}`);
  return answer.json;
};
let made = 0;
const agent = (name, blocks = {}, more = {}) => ok('POST', '/v1/agents/', {
  name: name ?? `agent-${++made}`, model: 'rehearsal/cast', include_base_tools: false,
  memory_blocks: Object.entries({ persona: `I am ${name}.`, ...blocks }).map(([label, value]) => ({ label, value })), ...more,
});
const group = (members, manager_config, more) => ok('POST', '/v1/groups/', { agent_ids: members.map(a => a.id), description: 'a test', manager_config, ...more });
const user = content => ({ messages: [{ role: 'user', content }] });
const send = (g, content, more) => ok('POST', `/v1/groups/${g.id}/messages`, { ...user(content), ...more });
const shown = messages => messages.map(m => `${m.name ?? ''}:${m.message_type.replace('_message', '')}`);
const rows = async a => (await ok('GET', `/v1/agents/${a.id}/messages?order=asc`)).filter(m => m.message_type !== 'system_message' || m.sender_id || m.name);

describe('round robin', () => {
  test('one round: a turn each, everybody has heard everything', async () => {
    const members = await Promise.all(['ann', 'bob', 'cy', 'di'].map(n => agent(n)));
    const g = await group(members);
    const answer = await send(g, 'hello');
    assert.deepEqual(shown(answer.messages), ['ann:assistant', 'bob:assistant', 'cy:assistant', 'di:assistant']);
    assert.equal(answer.usage.step_count, 4);
    assert.equal(answer.stop_reason.stop_reason, 'end_turn');
    // The user's message, three of the others, one of its own.
    for (const a of members) {
      const all = await rows(a);
      assert.equal(all.length, 5, JSON.stringify(all));
      assert.equal(all.filter(m => m.sender_id).length, 3);
      assert.ok(all.every(m => m.content), 'all have words');
    }
    const context = await ok('GET', `/v1/agents/${members[0].id}/context`);
    assert.equal(context.num_messages, 6, 'the others are in its context, too');
    // Without a manager the listing has the rows of all members; the view of a conversation each utterance once.
    assert.equal((await ok('GET', `/v1/groups/${g.id}/messages?limit=100`)).length, 20);
    const talk = await ok('GET', `/v1/groups/${g.id}/messages?view=conversation`);
    assert.deepEqual(talk.map(m => m.name), [null, 'ann', 'bob', 'cy', 'di']);
    const run = answer.messages[0].run_id;
    const row = await ok('GET', `/v1/runs/${run}`);
    assert.equal(row.status, 'completed');
    assert.equal((await ok('GET', `/v1/runs/${run}/steps`)).length, 4);
    assert.equal((await ok('GET', `/v1/runs/${run}/usage`)).total_tokens, answer.usage.total_tokens);
    const trace = await ok('GET', `/v1/groups/${g.id}/runs/${run}/trace`);
    assert.deepEqual(trace.parts.map(p => [p.agent_name, p.task, p.heard_to]), [['ann', 'speak', 1], ['bob', 'speak', 2], ['cy', 'speak', 3], ['di', 'speak', 4]]);
  });

  test('max_turns, a second request, members that come and go', async () => {
    const [a, b, c] = await Promise.all(['ann', 'bob', 'cy'].map(n => agent(n)));
    const g = await group([a, b, c], { manager_type: 'round_robin', max_turns: 2 });
    assert.equal((await send(g, 'one')).usage.step_count, 2);
    await ok('DELETE', `/v1/agents/${a.id}`);
    assert.deepEqual(shown((await send(g, 'two')).messages), ['bob:assistant', 'cy:assistant']);
    const d = await agent('di');
    await ok('PATCH', `/v1/groups/${g.id}`, { agent_ids: [d.id, b.id] });
    assert.deepEqual(shown((await send(g, 'three')).messages), ['di:assistant', 'bob:assistant']);
  });

  test('streams: the run first, all speakers in one stream, the end once', async () => {
    const members = await Promise.all(['ann', 'bob'].map(n => agent(n)));
    const g = await group(members);
    for (const stream_tokens of [false, true]) {
      const answer = await api('POST', `/v1/groups/${g.id}/messages/stream`, { ...user('hello'), stream_tokens });
      const all = frames(answer.text);
      assert.equal(all[0].message_type, 'ping');
      const run = all[0].run_id;
      assert.ok(all.filter(e => e.run_id).every(e => e.run_id === run));
      const speakers = all.filter(e => e.message_type === 'assistant_message').map(e => e.name);
      assert.deepEqual([...new Set(speakers)], ['ann', 'bob']);
      assert.equal(all.filter(e => e.message_type === 'stop_reason').length, 1);
      assert.equal(all.at(-1).message_type, 'usage_statistics');
      assert.ok(answer.text.trimEnd().endsWith('[DONE]'));
    }
  });

  test('a member that fails: abort, skip, retry', async () => {
    const [a, b] = [await agent('ann'), await agent('bob', { weak: 'yes' })];
    const refused = await api('POST', `/v1/groups/${(await group([a, b])).id}/messages`, user('fail please'));
    assert.equal(refused.status, 500);
    assert.match(refused.text, /bob/);
    const skips = await group([a, b], { manager_type: 'round_robin', on_member_error: 'skip' });
    const answer = await send(skips, 'fail please');
    assert.deepEqual(shown(answer.messages), ['ann:assistant']);
    assert.ok((await ok('GET', `/v1/agents/${a.id}/messages`)).some(m => /bob could not answer/.test(m.content)));
    assert.equal((await ok('GET', `/v1/groups/${skips.id}`)).on_member_error, 'skip');
  });

  test('in the background: the run first, cancelled or read to its end', async () => {
    const [a, b] = [await agent('ann'), await agent('bob', { weak: 'yes' })];
    const g = await group([a, b]);
    const run = await ok('POST', `/v1/groups/${g.id}/messages/async`, user('hang'));
    await eventually(() => ok('GET', `/v1/agents/${b.id}/messages`), m => ok('GET', `/v1/runs/${run.id}`).then(r => r.status === 'running'));
    await eventually(() => ok('GET', `/v1/groups/${g.id}/messages?view=conversation`), m => m.length === 2);
    const cancelled = await ok('POST', `/v1/agents/${a.id}/messages/cancel`, { run_ids: [run.id] });
    assert.equal(cancelled[run.id], 'cancelled');
    assert.equal((await eventually(() => ok('GET', `/v1/runs/${run.id}`), r => r.status !== 'running')).status, 'cancelled');
    assert.equal((await send(g, 'again')).usage.step_count, 2);
  });
});

describe('supervisor', () => {
  test('asks everybody once, answers with what they said', async () => {
    const [boss, a, b] = [await agent('boss'), await agent('ann'), await agent('bob')];
    const g = await group([a, b], { manager_type: 'supervisor', manager_agent_id: boss.id });
    const answer = await send(g, 'plan the day');
    assert.deepEqual(shown(answer.messages), ['boss:tool_call', 'send_message_to_all_agents_in_group:tool_return', 'boss:assistant']);
    assert.equal(answer.usage.step_count, 2);
    const returned = answer.messages[1].tool_return;
    assert.match(returned, new RegExp(`${a.id} said: .*ann.*${b.id} said: .*bob`));
    assert.deepEqual((await ok('GET', `/v1/agents/${boss.id}/tools`)), [], 'the tool is the group\'s');
    for (const m of [a, b]) assert.equal((await rows(m)).length, 2);
    const tokens = await api('POST', `/v1/groups/${g.id}/messages/stream`, { ...user('plan the noon'), stream_tokens: true });
    assert.equal(frames(tokens.text).filter(e => e.message_type === 'tool_return_message').length, 1);
    // The manager's own endpoint runs the group, a second time as well.
    const again = await ok('POST', `/v1/agents/${boss.id}/messages`, user('plan the night'));
    assert.deepEqual(shown(again.messages), shown(answer.messages));
    assert.equal((await ok('GET', `/v1/agents/${boss.id}/context`)).num_messages, 13);
  });

  test('nested: a worker that is a manager answers for its group', async () => {
    const [top, middle, leaf] = [await agent('top'), await agent('middle'), await agent('leaf')];
    await group([leaf], { manager_type: 'supervisor', manager_agent_id: middle.id });
    const g = await group([middle], { manager_type: 'supervisor', manager_agent_id: top.id });
    const answer = await send(g, 'plan it');
    assert.equal(answer.messages.at(-1).name, 'top');
    assert.match(answer.messages.at(-1).content, /middle/);
  });

  test('groups that lead each other do not wait for ever', async () => {
    const [x, y] = [await agent('x'), await agent('y')];
    const g = await group([y], { manager_type: 'supervisor', manager_agent_id: x.id });
    await group([x], { manager_type: 'supervisor', manager_agent_id: y.id });
    const answer = await send(g, 'plan it');
    assert.equal(answer.stop_reason.stop_reason, 'end_turn');
  });
});

describe('dynamic and swarm', () => {
  test('the manager chooses, two steps a turn', async () => {
    const [boss, a, b] = [await agent('boss'), await agent('ann'), await agent('bob')];
    const g = await group([a, b], { manager_type: 'dynamic', manager_agent_id: boss.id });
    const answer = await send(g, 'hello');
    assert.equal(answer.usage.step_count, 4);
    assert.deepEqual(answer.messages.map(m => m.name).filter(n => n !== 'boss'), ['ann', 'bob']);
  });

  test('who has the word hands it on', async () => {
    const adder = await agent('adder');
    const desk = await agent('desk', { desk: adder.id });
    const g = await group([desk, adder], { manager_type: 'swarm', first_agent_id: desk.id });
    const answer = await send(g, 'sum 2 and 3');
    assert.equal(answer.messages.at(-1).name, 'adder');
    assert.equal(answer.usage.step_count, 2);
  });
});

// The numbers that clients of the first group chats were tested with: agents that think and speak by send_message.
describe('the counts of the first versions', () => {
  const old = (name, more) => agent(name, {}, { agent_type: 'memgpt_agent', tools: ['send_message'], tool_rules: [{ type: 'exit_loop', tool_name: 'send_message' }], ...more });
  const kinds = messages => messages.map(m => m.message_type.replace('_message', ''));
  const heard = async (a, g) => (await ok('GET', `/v1/agents/${a.id}/messages?limit=100&group_id=${g.id}`)).length;

  test('round robin: 8 messages in 4 steps, 6 for each member; with 3 turns 5, and 4 for who is silent', async () => {
    const members = await Promise.all(['ann', 'bob', 'cy', 'di'].map(n => old(n)));
    const g = await group(members);
    const answer = await send(g, 'talk');
    assert.deepEqual(kinds(answer.messages), Array(4).fill(['reasoning', 'assistant']).flat());
    assert.equal(answer.usage.step_count, 4);
    for (const a of members) assert.equal(await heard(a, g), 6);
    assert.equal((await ok('GET', `/v1/groups/${g.id}/messages?limit=100`)).length, 24);

    const others = await Promise.all(['eve', 'fay', 'gus', 'hal'].map(n => old(n)));
    const short = await group(others, { manager_type: 'round_robin', max_turns: 3 });
    assert.equal((await send(short, 'talk')).usage.step_count, 3);
    const counts = [];
    for (const a of others) counts.push(await heard(a, short));
    assert.deepEqual(counts, [5, 5, 5, 4]);
  });

  test('supervisor: 5 messages in 2 steps; dynamic: 2 steps a turn', async () => {
    const [boss, a, b] = [await old('boss'), await old('ann'), await old('bob')];
    const g = await group([a, b], { manager_type: 'supervisor', manager_agent_id: boss.id });
    const answer = await send(g, 'plan and talk');
    assert.deepEqual(kinds(answer.messages), ['reasoning', 'tool_call', 'tool_return', 'reasoning', 'assistant']);
    assert.equal(answer.usage.step_count, 2);
    const led = await group([a, b], { manager_type: 'dynamic', manager_agent_id: (await agent('lead')).id, max_turns: 3 });
    assert.equal((await send(led, 'talk')).usage.step_count, 6);
  });
});

test('a round in the background can be read again, also after a restart', async () => {
  const data = temporaryFolder();
  const here = server;
  try {
    server = await startServer({ args, data });
    const members = await Promise.all(['ann', 'bob'].map(n => agent(n)));
    const g = await group(members);
    const first = frames((await api('POST', `/v1/groups/${g.id}/messages/stream`, { ...user('hello'), background: true })).text);
    const run = first[0].run_id;
    const told = list => list.filter(e => e.message_type === 'assistant_message').map(e => `${e.name}: ${e.content}`);
    const again = async () => frames((await api('GET', `/v1/runs/${run}/stream`)).text);
    assert.deepEqual(told(await again()), told(first));
    await server.kill();
    server = await startServer({ args, data });
    assert.deepEqual(told(await again()), told(first));
    assert.deepEqual((await ok('GET', `/v1/runs/${run}/messages`)).map(m => m.name), ['ann', 'bob']);
    await server.stop();
  } finally { server = here; }
});

test('a round that a kill -9 interrupts goes on at its turn, with the same contexts', async () => {
  const data = temporaryFolder();
  const here = server;
  try {
    server = await startServer({ args, data });
    const members = await Promise.all(['ann', 'bob', 'cy'].map(n => agent(n)));
    const g = await group(members);
    const run = await ok('POST', `/v1/groups/${g.id}/messages/async`, user('slow one'));
    await eventually(() => ok('GET', `/v1/groups/${g.id}/messages?view=conversation`), m => m.length === 2);
    await server.kill();
    server = await startServer({ args, data });
    const done = await eventually(() => ok('GET', `/v1/runs/${run.id}`), r => r.status === 'completed');
    assert.equal(done.stop_reason, 'end_turn');
    const talk = await ok('GET', `/v1/groups/${g.id}/messages?view=conversation`);
    assert.deepEqual(talk.map(m => m.name), [null, 'ann', 'bob', 'cy']);
    for (const a of members) assert.equal((await rows(a)).length, 4);
    await server.stop();
  } finally { server = here; }
});
