// Agents, blocks, identities and tags at their edges: what is ignored, derived, refused or kept, where the recordings say
// nothing.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startModel } from '../lib/model.mjs';
import { call, startServer } from '../lib/server.mjs';

let server, model;
before(async () => {
  model = await startModel(async () => ({ text: 'hello' }));
  server = await startServer({ env: model.env });
});
after(async () => { await server.stop(); model.stop(); });

const api = (method, target, body, headers) => call(server.base, method, target, body, headers);
const ok = async (method, target, body, headers) => {
  const answer = await api(method, target, body, headers);
  assert.equal(answer.status, 200, `${method} ${target}: ${answer.text}`);
  return answer.json;
};
// The answer has this status, and its detail holds each of these words.
const refused = async (status, words, method, target, body) => {
  const answer = await api(method, target, body);
  assert.equal(answer.status, status, `${method} ${target}: ${answer.text}`);
  for (const word of [words].flat()) assert.ok(answer.json.detail.includes(word), `${answer.json.detail} holds ${word}`);
};
let made = 0;
const name = () => `edge ${++made}`;
const key = () => `key_${++made}`;
const rehearsal = 'rehearsal/default';
const body = more => ({ name: name(), model: rehearsal, include_base_tools: false, ...more });
const agent = more => ok('POST', '/v1/agents/', body(more));
const read = (a, query = '') => ok('GET', `/v1/agents/${a.id}${query}`);
const change = (a, more) => ok('PATCH', `/v1/agents/${a.id}`, more);
const block = more => ok('POST', '/v1/blocks/', { label: key(), value: 'v', ...more });
const identity = more => ok('POST', '/v1/identities/', { identifier_key: key(), name: 'somebody', identity_type: 'user', ...more });
const ids = list => list.map(x => x.id);
const nobody = kind => `${kind}-00000000-0000-4000-8000-000000000000`;

describe("an agent's model", () => {
  test('comes anew with another one; the summariser follows the provider', async () => {
    const a = await agent({ model: model.handle, parallel_tool_calls: true, compaction_settings: { model_settings: { provider_type: 'openai' } } });
    assert.deepEqual([a.llm_config.enable_reasoner, a.llm_config.parallel_tool_calls, a.compaction_settings.model], [false, true, 'openai/gpt-5-mini']);
    const same = await change(a, { model: model.handle });
    assert.deepEqual([same.llm_config.enable_reasoner, same.llm_config.parallel_tool_calls, same.compaction_settings], [true, false, a.compaction_settings]);
    assert.equal((await change(a, { reasoning: false })).llm_config.enable_reasoner, false);
    const other = await change(a, { model: rehearsal });
    assert.deepEqual([other.compaction_settings.model, other.compaction_settings.model_settings], [rehearsal, null]);
    await change(a, { compaction_settings: { model: 'openai-proxy/own' } });
    assert.equal((await change(a, { model: model.handle })).compaction_settings.model, 'openai-proxy/own');
  });

  test('is what llm_config says, whatever else the request says', async () => {
    const a = await agent(), more = { context_window_limit: 5000, max_tokens: 50 };
    const llm_config = { ...a.llm_config, context_window: 9000, max_tokens: 70, enable_reasoner: true };
    const changed = await change(a, { llm_config, ...more });
    assert.deepEqual([changed.llm_config.context_window, changed.llm_config.max_tokens], [9000, 70]);
    const created = await ok('POST', '/v1/agents/', { name: name(), llm_config, include_base_tools: false, agent_type: 'memgpt_agent', enable_reasoner: false, max_reasoning_tokens: 900, ...more });
    const { context_window, max_tokens, max_reasoning_tokens, enable_reasoner } = created.llm_config;
    assert.deepEqual({ context_window, max_tokens, max_reasoning_tokens, enable_reasoner }, { context_window: 9000, max_tokens: 70, max_reasoning_tokens: a.llm_config.max_reasoning_tokens, enable_reasoner: true });
    assert.equal(created.llm_config.put_inner_thoughts_in_kwargs, true, 'reasoning as the configuration has it');
  });

  test('gives the limits of files, unless they are named', async () => {
    const limits = a => [a.max_files_open, a.per_file_view_window_char_limit];
    const a = await agent({ context_window_limit: 20000 });
    assert.deepEqual(limits(a), [5, 15000]);
    assert.deepEqual(limits(await change(a, { context_window_limit: 150000 })), [10, 40000]);
    assert.deepEqual(limits(await change(a, { max_files_open: 2 })), [2, 40000]);
    await refused(400, 'per_file_view_window_char_limit cannot exceed 2147483647. Got: 2147483648', 'PATCH', `/v1/agents/${a.id}`, { per_file_view_window_char_limit: 2147483648 });
  });

  test('settings of compaction: a new mode brings its prompt, null is kept', async () => {
    const a = await agent(), set = compaction_settings => change(a, { compaction_settings });
    const all = (await set({ mode: 'all', prompt: 'mine' })).compaction_settings;
    assert.notEqual(all.prompt, 'mine');
    assert.equal((await set({ mode: 'all', prompt: 'mine' })).compaction_settings.prompt, 'mine');
    const bare = (await set({ prompt: null, model: null, model_settings: null })).compaction_settings;
    assert.deepEqual([bare.prompt, bare.model, bare.model_settings, bare.mode], [null, null, null, 'all']);
    await refused(422, ["('body', 'compaction_settings', 'mode')", 'literal_error'], 'PATCH', `/v1/agents/${a.id}`, { compaction_settings: { mode: null } });
    const first = (await agent({ compaction_settings: { mode: 'all', prompt: null, model: null } })).compaction_settings;
    assert.deepEqual([first.prompt, first.model], [all.prompt, rehearsal]);
  });
});

describe('an agent', () => {
  test('with no rules of its own has those of its type', async () => {
    const base = { name: name(), model: rehearsal };
    assert.deepEqual((await ok('POST', '/v1/agents/', { ...base, tool_rules: [] })).tool_rules, (await ok('POST', '/v1/agents/', base)).tool_rules);
  });

  test('changes with its blocks and its reset, not with its tools', async () => {
    const a = await agent(), b = await block();
    let last = a.updated_at;
    const moved = async (target, body) => {
      const { updated_at } = await ok('PATCH', `/v1/agents/${a.id}/${target}`, body);
      assert.ok(updated_at > last, target);
      assert.equal((await read(a)).updated_at, updated_at);
      last = updated_at;
    };
    for (const how of ['attach', 'attach', 'detach']) await moved(`core-memory/blocks/${how}/${b.id}`);
    await moved('reset-messages', {});
    await moved('reset-messages', { add_default_initial_messages: true });
    const [tool] = await ok('GET', '/v1/tools/?name=memory_insert');
    await ok('PATCH', `/v1/agents/${a.id}/tools/attach/${tool.id}`);
    await ok('PATCH', `/v1/agents/${a.id}/tools/approval/memory_insert`, { requires_approval: true });
    assert.equal((await read(a)).updated_at, last);
  });

  test('takes any name later; another embedding must be there', async () => {
    const a = await agent();
    for (const other of ['a/b', '']) assert.equal((await change(a, { name: other })).name, other);
    await refused(400, 'INVALID_ARGUMENT: Embedding model none not found', 'PATCH', `/v1/agents/${a.id}`, { embedding: 'none' });
  });

  test('is not made of what does not fit', async () => {
    const create = (status, words, more) => refused(status, words, 'POST', '/v1/agents/', body(more));
    await create(422, ["('body', 'name')", 'string_type'], { name: null });
    await create(404, 'Handle  not found', { model: '' });
    await create(400, 'The model handle should be in the format provider/model-name', { model: 'rehearsal/' });
    await create(400, 'Embedding model  not found', { embedding: '' });
    await create(400, 'Max reasoning tokens (9) must be less than max tokens (None)', { max_reasoning_tokens: 9 });
    await create(400, 'Max reasoning tokens (9) must be less than max tokens (8)', { max_reasoning_tokens: 9, max_tokens: 8 });
  });

  test('has the secrets, and only without them the variables of tools', async () => {
    const keys = async more => (await read(await agent(more), '?include=agent.secrets')).secrets.map(s => s.key);
    const tool_exec_environment_variables = { OLD: '1' };
    assert.deepEqual(await keys({ tool_exec_environment_variables, secrets: { NEW: '2' } }), ['NEW']);
    assert.deepEqual(await keys({ tool_exec_environment_variables, secrets: {} }), ['OLD']);
  });

  test('begins with as many messages as its type says', async () => {
    const count = async (agent_type, more) => (await agent({ agent_type, ...more })).message_ids.length;
    assert.deepEqual([await count('sleeptime_agent'), await count('voice_sleeptime_agent'), await count('letta_v1_agent')], [2, 4, 1]);
    assert.equal(await count('sleeptime_agent', { include_base_tools: true }), 1);
    const a = await agent({ initial_message_sequence: [{ role: 'user', content: 'hi', name: 'Ada' }] });
    const said = (await ok('GET', `/v1/agents/${a.id}/messages`)).find(m => m.message_type === 'user_message');
    assert.equal(said.name, 'Ada');
  });

  test('is asked for approval in a body or in the query; attaching a tool again asks again', async () => {
    const a = await agent(), to = `/v1/agents/${a.id}/tools/approval/anything`;
    await refused(422, ["('body', 'requires_approval')", 'missing'], 'PATCH', `${to}?requires_approval=true`, {});
    await refused(422, ["('body', 'requires_approval')", 'bool_type'], 'PATCH', `${to}?requires_approval=true`, { requires_approval: null });
    await ok('PATCH', `${to}?requires_approval=true`);
    const tool = await ok('POST', '/v1/tools/', { source_code: `def careful_${++made}():\n    """Waits."""\n    return "done"\n`, default_requires_approval: true });
    const attach = () => ok('PATCH', `/v1/agents/${a.id}/tools/attach/${tool.id}`);
    const asks = async () => (await read(a)).tool_rules.filter(r => r.tool_name === tool.name).length;
    await attach();
    await ok('PATCH', `/v1/agents/${a.id}/tools/approval/${tool.name}`, { requires_approval: false });
    assert.equal(await asks(), 0);
    for (let i = 0; i < 2; ++i) await attach();
    assert.equal(await asks(), 1);
  });
});

describe('lists', () => {
  test('are not filtered by what is empty', async () => {
    const a = await agent({ tags: [`tag_${made}`] });
    const empty = 'name=&project_id=&template_id=&base_template_id=&identity_id=&created_by_id=';
    const tag = `tags=${a.tags[0]}`;
    assert.deepEqual(ids(await ok('GET', `/v1/agents/?${empty}&${tag}`)), [a.id]);
    assert.equal(await ok('GET', `/v1/agents/count?${empty}&${tag}`), 1);
    const b = await block();
    assert.deepEqual(ids(await ok('GET', `/v1/blocks/?project_id=&label=${b.label}`)), [b.id]);
    const i = await identity({ name: key() });
    assert.deepEqual(ids(await ok('GET', `/v1/identities/?project_id=&identifier_key=&name=${i.name}`)), [i.id]);
    assert.deepEqual(await ok('GET', `/v1/tags/?name=&query_text=${a.tags[0]}`), [a.tags[0]]);
  });

  test('know no project of a header', async () => {
    const headers = { 'x-project-id': 'elsewhere' };
    const all = [['agents', body()], ['blocks', { label: key(), value: '' }], ['identities', { identifier_key: key(), name: 'x', identity_type: 'org' }]];
    for (const [kind, what] of all) assert.equal((await ok('POST', `/v1/${kind}/`, what, headers)).project_id, null, kind);
  });

  test('go on behind a row that does not match, by its own value', async () => {
    const tags = [key()], three = [];
    for (let i = 0; i < 3; ++i) three.push(await agent({ tags }));
    const middle = await change(three[1], { tags: [] });
    for (const a of [three[2], three[0]]) await change(a, { description: 'later' });
    const list = query => ok('GET', `/v1/agents/?tags=${tags[0]}&order_by=updated_at&order=asc&${query}`).then(ids);
    assert.deepEqual(await list(`after=${middle.id}`), [three[2].id, three[0].id]);
    assert.deepEqual(await list(`before=${middle.id}`), []);
    const b = await block();
    for (const a of [three[0], three[2]]) await ok('PATCH', `/v1/agents/${a.id}/core-memory/blocks/attach/${b.id}`);
    const of = query => ok('GET', `/v1/blocks/${b.id}/agents?order=asc&${query}`).then(ids);
    assert.deepEqual(await of(`after=${middle.id}`), [three[2].id]);
    assert.deepEqual(await of(`before=${middle.id}`), [three[0].id]);
    assert.deepEqual(await of(`before=${nobody('agent')}`), [three[0].id, three[2].id]);
  });

  test("of a block's and an identity's agents show what `include` names", async () => {
    const b = await block({ tags: ['t'] }), i = await identity({ block_ids: [b.id] });
    await agent({ block_ids: [b.id], identity_ids: [i.id], tags: ['t'] });
    const old = { 'x-stainless-package-version': '' };
    for (const whose of [`blocks/${b.id}`, `identities/${i.id}`]) {
      const shown = async query => { const [a] = await ok('GET', `/v1/${whose}/agents?${query}`, undefined, old); return [a.tags, a.blocks.length]; };
      assert.deepEqual(await shown(''), [[], 0]);
      assert.deepEqual(await shown('include_relationships=tags'), [[], 0]);
      assert.deepEqual(await shown('include=agent.tags'), [['t'], 0]);
    }
    assert.deepEqual((await ok('GET', `/v1/identities/${i.id}/blocks`))[0].tags, []);
  });
});

describe('an identity', () => {
  const agentsOf = async i => ids(await ok('GET', `/v1/identities/${i.id}/agents?order=asc`));
  const blocksOf = async i => ids(await ok('GET', `/v1/identities/${i.id}/blocks?order=asc`));

  test('that is put again gets other agents and keeps its blocks', async () => {
    const a = await agent(), b = await agent(), mine = await block(), other = await block();
    const i = await identity({ agent_ids: [a.id], block_ids: [mine.id] });
    const put = more => ok('PUT', '/v1/identities/', { identifier_key: i.identifier_key, name: 'again', identity_type: 'user', ...more });
    await put();
    assert.deepEqual(await agentsOf(i), [a.id]);
    await put({ agent_ids: [b.id], block_ids: [other.id] });
    assert.deepEqual([await agentsOf(i), await blocksOf(i)], [[b.id], [mine.id]]);
    await put({ agent_ids: [] });
    assert.deepEqual(await agentsOf(i), []);
  });

  test('has no property that is null or a list', async () => {
    const i = await identity(), words = ["'value', 'str')", "'value', 'int')", "'value', 'float')", "'value', 'bool')", 'dict_type'];
    for (const value of [null, [1]]) await refused(422, words, 'PATCH', `/v1/identities/${i.id}`, { properties: [{ key: 'k', value, type: 'json' }] });
  });

  test('goes with what is there', async () => {
    const i = await identity(), a = await agent(), b = await block();
    for (const at of [`agents/${a.id}`, `blocks/${b.id}`])
      for (const how of ['attach', 'detach'])
        await refused(400, "INVALID_ARGUMENT: Invalid identity ID format: foo. Expected format: 'identity-<uuid4>'", 'PATCH', `/v1/${at}/identities/${how}/foo`);
    for (const kind of ['agent', 'block']) {
      await refused(404, 'Identity not found', 'PATCH', `/v1/${kind}s/${nobody(kind)}/identities/attach/${nobody('identity')}`);
      const Kind = kind === 'agent' ? 'Agent' : 'Block';
      for (const cursor of [nobody(kind), 'foo']) await refused(404, `No ${Kind} found with id ${cursor}`, 'GET', `/v1/identities/${i.id}/${kind}s?after=${cursor}`);
      const unknown = { [`${kind}_ids`]: [nobody(kind)] };
      await refused(404, nobody(kind), 'PATCH', `/v1/identities/${i.id}`, unknown);
      await refused(404, nobody(kind), 'POST', '/v1/identities/', { identifier_key: key(), name: 'x', identity_type: 'user', ...unknown });
    }
    await ok('PATCH', `/v1/agents/${a.id}/identities/attach/${i.id}`);
    assert.deepEqual(await ok('GET', `/v1/identities/${i.id}/agents?after=${a.id}`), []);
  });
});

describe('blocks', () => {
  test('are counted with templates, where nothing is asked', async () => {
    const count = query => ok('GET', `/v1/blocks/count?${query}`);
    const before = [await count(''), await count('project_id=')];
    await block({ is_template: true });
    assert.deepEqual([await count(''), await count('project_id=')], [before[0] + 1, before[1]]);
  });

  test('of a label are not searched by label', async () => {
    const b = await block();
    assert.deepEqual(ids(await ok('GET', `/v1/blocks/?label=${b.label}&label_search=nothing`)), [b.id]);
    assert.deepEqual(await ok('GET', `/v1/blocks/?label_search=nothing`), []);
  });

  test('keep a tag once, and hold no null where there is none', async () => {
    const b = await block({ tags: ['x', 'y', 'x'], preserve_on_migration: null });
    assert.deepEqual([b.tags, b.preserve_on_migration], [['x', 'y', 'x'], false]);
    assert.deepEqual((await ok('GET', `/v1/blocks/${b.id}`)).tags, ['x', 'y']);
    for (const member of ['read_only', 'is_template']) await refused(422, [`('body', '${member}')`, 'bool_type'], 'PATCH', `/v1/blocks/${b.id}`, { [member]: null });
  });
});
