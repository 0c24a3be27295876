// Groups through the API: what the recordings do not show. Old routes, shared blocks, messages and their reset, deletion
// rules, companions.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { call, startServer } from '../lib/server.mjs';

let server;
before(async () => { server = await startServer(); });
after(() => server.stop());

const api = (method, target, body) => call(server.base, method, target, body);
const ok = async (method, target, body) => {
  const answer = await api(method, target, body);
  assert.equal(answer.status, 200, `${method} ${target}: ${answer.text}`);
  return answer.json;
};
let made = 0;
const agent = more => ok('POST', '/v1/agents/', { name: `agent ${++made}`, model: 'rehearsal/default', include_base_tools: false, ...more });
const agents = n => Promise.all(Array.from({ length: n }, () => agent()));
const group = (members, more) => ok('POST', '/v1/groups/', { agent_ids: members.map(a => a.id), description: 'a group', ...more });
const led = (type, boss, more) => ({ manager_config: { manager_type: type, manager_agent_id: boss.id, ...more } });
const labels = async a => (await ok('GET', `/v1/agents/${a.id}/core-memory/blocks`)).map(b => b.label);
const say = (a, content, more) => ok('POST', `/v1/agents/${a.id}/messages`, { messages: [{ role: 'user', content, ...more }] });

describe('groups', () => {
  test('answer to the routes of the first versions as well', async () => {
    const [a, b] = await agents(2);
    const g = await ok('PUT', '/v1/groups/', { agent_ids: [a.id], description: 'put' });
    assert.equal((await ok('PUT', `/v1/groups/${g.id}`, { agent_ids: [b.id, a.id] })).description, 'put');
    assert.deepEqual((await ok('GET', `/v1/groups/${g.id}`)).agent_ids, [b.id, a.id]);
    const template = { template_id: 't', base_template_id: 'b', deployment_id: 'd' };
    const made = await ok('POST', '/v1/_internal_templates/groups', { agent_ids: [a.id], description: '', ...template });
    assert.deepEqual({ ...template, ...made }, made);
  });

  test('refuse what does not fit, and change nothing then', async () => {
    const [a, b, boss] = await agents(3);
    const g = await group([a, b], led('supervisor', boss));
    const twice = await api('PATCH', `/v1/groups/${g.id}`, { description: 'new', agent_ids: [a.id, a.id] });
    assert.equal(twice.status, 422);
    assert.match(twice.json.detail, new RegExp(a.id));
    const nobody = 'agent-00000000-0000-4000-8000-000000000000';
    const other = led('supervisor', { id: nobody });
    assert.equal((await api('PATCH', `/v1/groups/${g.id}`, { description: 'new', ...other })).status, 409);
    assert.deepEqual(await ok('GET', `/v1/groups/${g.id}`), g);
  });

  test('share blocks with their members and their manager, and take them back', async () => {
    const [a, b, boss] = await agents(3);
    const own = await agent({ memory_blocks: [{ label: 'board', value: 'mine' }] });
    const board = await ok('POST', '/v1/blocks/', { label: 'board', value: 'ours' });
    const g = await group([a, b], led('supervisor', boss));
    for (let i = 0; i < 2; ++i) assert.equal(await ok('PATCH', `/v1/groups/${g.id}/blocks/attach/${board.id}`), null);
    for (const x of [a, b, boss]) assert.deepEqual(await labels(x), ['board']);
    for (let i = 0; i < 2; ++i) assert.equal(await ok('PATCH', `/v1/groups/${g.id}/blocks/detach/${board.id}`), null);
    for (const x of [a, b, boss]) assert.deepEqual(await labels(x), []);
    // A member that has another block of the label: nobody gets it.
    const mixed = await group([a, own]);
    assert.equal((await api('PATCH', `/v1/groups/${mixed.id}/blocks/attach/${board.id}`)).status, 409);
    assert.deepEqual(await labels(a), []);
  });

  test('show on the agent that manages, wherever agents are shown', async () => {
    const [a, boss] = await agents(2);
    const g = await group([a], led('dynamic', boss));
    const include = 'include=agent.managed_group';
    const shown = [await ok('GET', `/v1/agents/${boss.id}?${include}`), (await ok('GET', `/v1/agents/?name=${encodeURIComponent(boss.name)}&${include}`))[0], await ok('PATCH', `/v1/agents/${boss.id}`, {})];
    for (const state of shown) {
      assert.deepEqual(state.managed_group, g);
      assert.deepEqual(state.multi_agent_group, g);
    }
    assert.equal((await ok('GET', `/v1/agents/${boss.id}`)).managed_group, null);
  });

  test('list their messages, oldest first, and forget them', async () => {
    const [a, b] = await agents(2);
    const g = await group([a, b]);
    for (let i = 1; i <= 3; ++i) for (const x of [a, b]) await say(x, `${x.name}: ${i}`, { group_id: g.id });
    await say(a, 'aside');
    const texts = async query => (await ok('GET', `/v1/groups/${g.id}/messages?${query}`)).map(m => m.content);
    const all = [1, 2, 3].flatMap(i => [a, b].map(x => `${x.name}: ${i}`));
    assert.deepEqual(await texts(''), all);
    for (const order of ['', '&order=asc', '&order=desc']) assert.deepEqual(await texts(`limit=2${order}`), all.slice(0, 2), order);
    assert.deepEqual(await texts('limit=0'), []);
    const listed = await ok('GET', `/v1/groups/${g.id}/messages`), third = listed[2];
    assert.deepEqual(await texts(`before=${third.id}`), all.slice(0, 2));
    assert.deepEqual(await texts(`after=${third.id}`), all.slice(3));
    assert.deepEqual(await texts(`after=${listed[0].id}&before=${third.id}`), all.slice(1, 2));
    const backward = await api('GET', `/v1/groups/${g.id}/messages?before=${listed[0].id}&after=${third.id}`);
    assert.deepEqual([backward.status, backward.json.detail], [400, "'before' reference must be later than 'after' reference"]);
    const unknown = 'message-00000000-0000-4000-8000-000000000001';
    assert.equal((await api('GET', `/v1/groups/${g.id}/messages?after=${unknown}`)).json.detail, `No Message found with id ${unknown}`);
    assert.equal(await ok('PATCH', `/v1/groups/${g.id}/reset-messages`), null);
    assert.deepEqual(await texts(''), []);
    assert.equal((await api('GET', `/v1/messages/${third.id}`)).status, 404);
    const kept = await ok('GET', `/v1/agents/${a.id}`);
    assert.equal(kept.message_ids.length, 1 + 3 + 2); // the system message, three answers, the aside and its answer
    await say(a, 'go on');
  });

  test('hold their manager; a member may leave', async () => {
    const [a, boss] = await agents(2);
    const g = await group([a], led('supervisor', boss));
    const refused = await api('DELETE', `/v1/agents/${boss.id}`);
    assert.equal(refused.status, 409);
    assert.match(refused.json.detail, new RegExp(g.id));
    await ok('DELETE', `/v1/agents/${a.id}`);
    assert.deepEqual(await ok('GET', `/v1/groups/${g.id}`), g);
    await ok('DELETE', `/v1/groups/${g.id}`);
    await ok('DELETE', `/v1/agents/${boss.id}`);
  });
});

describe('companions', () => {
  test('need no embedding, and no other name for an agent that had one before', async () => {
    const a = await agent({ enable_sleeptime: true, memory_blocks: [{ label: 'human', value: 'Ada' }] });
    const companion = await ok('GET', `/v1/agents/${a.managed_group.agent_ids[0]}`);
    assert.equal(companion.name, `${a.name}-sleeptime`);
    assert.deepEqual(companion.llm_config, a.llm_config);
    assert.deepEqual((await labels(companion)).sort(), ['human', 'memory_persona']);
    await ok('DELETE', `/v1/groups/${a.managed_group.id}`);
    const again = await ok('PATCH', `/v1/agents/${a.id}`, { enable_sleeptime: true });
    assert.notEqual(again.managed_group.agent_ids[0], companion.id);
  });

  test('survive a restart with their group', async () => {
    const a = await agent({ enable_sleeptime: true });
    await server.kill();
    server = await startServer({ data: server.data });
    assert.deepEqual((await ok('GET', `/v1/agents/${a.id}?include=agent.managed_group`)).managed_group, a.managed_group);
    await ok('DELETE', `/v1/agents/${a.id}`);
    for (const gone of [`agents/${a.managed_group.agent_ids[0]}`, `groups/${a.managed_group.id}`]) assert.equal((await api('GET', `/v1/${gone}`)).status, 404);
  });
});
