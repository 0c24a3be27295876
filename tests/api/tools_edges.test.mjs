// Tools through the API: what the recordings do not show of schemas, replacing, changing, listing and running; and the
// small print of the resources around them.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { call, startServer } from '../lib/server.mjs';

let server;
before(async () => { server = await startServer(); });
after(() => server.stop());

const api = (method, target, body, headers) => call(server.base, method, target, body, headers);
const ok = async (...request) => { const answer = await api(...request); assert.equal(answer.status, 200, `${request[0]} ${request[1]}: ${answer.text}`); return answer.json; };
const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const refused = async (status, text, ...request) => {
  const answer = await api(...request);
  assert.equal(answer.status, status, `${request[0]} ${request[1]}: ${answer.text}`);
  assert.match(String(answer.json.detail), text instanceof RegExp ? text : new RegExp(`^${escaped(text)}$`));
};
const source = (name, argument = 'word: str') => `def ${name}(${argument}):\n    """Do it.\n\n    Args:\n        ${argument.split(':')[0]}: n\n    """\n    return 1\n`;
const make = (name, more) => ok('POST', '/v1/tools/', { source_code: source(name), ...more });
const schema = (name, more) => ({ name, description: 'Given.', parameters: { type: 'object', properties: {} }, ...more });

describe('arguments described apart from the source', () => {
  const described = { title: 'In', type: 'object', required: ['point', 'word'], $defs: { Point: { type: 'object', properties: { x: { type: 'integer', description: 'across' } }, required: ['x'] } },
    properties: { word: { type: 'string', title: 'Word', enum: ['a'], default: 'a' }, maybe: { anyOf: [{ type: 'integer' }, { type: 'null' }], description: 'perhaps' }, point: { $ref: '#/$defs/Point' }, list: { type: 'array', items: { type: 'number' } } } };
  const kept = { type: 'object', required: ['word', 'point'], properties: { word: { type: 'string', description: '' }, maybe: { type: 'integer', description: 'perhaps' },
    point: { type: 'object', properties: { x: { type: 'integer', description: 'across' } }, required: ['x'], description: '' }, list: { type: 'array', items: { type: 'number' }, description: '' } } };

  test('give the schema, with the whole docstring', async () => {
    const made = await make('described_one', { args_json_schema: described });
    assert.deepEqual(made.json_schema, { name: 'described_one', description: 'Do it.\n\nArgs:\n    word: n', parameters: kept });
    assert.deepEqual(Object.keys(made.json_schema.parameters.properties), Object.keys(described.properties));
    assert.deepEqual(made.args_json_schema, described);
    const bare = await ok('POST', '/v1/tools/', { source_code: 'def described_two(x):\n    return x\n', args_json_schema: { properties: {} } });
    assert.equal(bare.description, 'The described_two tool');
  });

  test('give a tool a new one, under its name', async () => {
    const made = await make('described_three');
    const changed = await ok('PATCH', `/v1/tools/${made.id}`, { args_json_schema: described });
    assert.deepEqual(changed.json_schema, { name: 'described_three', description: 'Do it.\n\nArgs:\n    word: n', parameters: kept });
    assert.equal(changed.description, 'Do it.');
  });

  test('are refused where they cannot be read', async () => {
    const wrong = async (args_json_schema, why, source_code = source('described_four')) => refused(400, why, 'POST', '/v1/tools/', { source_code, args_json_schema });
    await wrong({ properties: {} }, 'Failed to parse function name and docstring: No function definition found in source code', 'x = 1\n');
    await wrong({ type: 'object' }, /described by an object with properties/);
    await wrong({ properties: { x: { anyOf: [{ type: 'string' }, { type: 'integer' }] } } }, 'General Union types are not yet supported');
    await wrong({ properties: { x: { type: 'object', additionalProperties: { type: 'string' } } } }, /^Dictionary types typing\.Dict\[str, str\] with nested type arguments/);
    await wrong({ properties: { x: {} } }, 'Unable to convert pydantic field schema to type: {}');
    const made = await make('described_five');
    await refused(400, /described by an object with properties/, 'PATCH', `/v1/tools/${made.id}`, { args_json_schema: {} });
  });
});

describe('tools are made', () => {
  test('in the place of one of the same name: nothing of it stays but who it is and its tags', async () => {
    const project = { 'x-project-id': 'project-one' };
    const first = await ok('POST', '/v1/tools/', { source_code: source('replaced'), tags: ['kept'], default_requires_approval: true, enable_parallel_execution: true, pip_requirements: [{ name: 'one' }], npm_requirements: [{ name: 'two' }], args_json_schema: { properties: {} }, return_char_limit: 7 }, project);
    assert.equal(first.project_id, 'project-one');
    await ok('PATCH', `/v1/tools/${first.id}`, { metadata_: { mine: 1 } });
    const second = await ok('PUT', '/v1/tools/', { source_code: source('replaced') });
    assert.deepEqual([second.id, second.tags, second.default_requires_approval, second.enable_parallel_execution, second.pip_requirements, second.npm_requirements, second.args_json_schema, second.return_char_limit, second.project_id, Object.keys(second.metadata_)],
      [first.id, ['kept'], null, false, null, null, {}, 50_000, null, ['tool_hash']]);
  });

  test('from a schema alone, or from the source where the schema is empty', async () => {
    const bare = await ok('POST', '/v1/tools/', { source_code: '', json_schema: { name: 'bare', parameters: { type: 'object', properties: {} } } });
    assert.deepEqual([bare.name, bare.description, bare.source_code], ['bare', null, '']);
    assert.equal((await make('emptied', { json_schema: {} })).json_schema.description, 'Do it.');
    await refused(400, 'Unknown tool source type: ruby', 'POST', '/v1/tools/', { source_code: source('x'), source_type: 'ruby' });
    assert.equal((await make('rubies', { source_type: 'ruby', json_schema: schema('rubies') })).source_type, 'ruby');
    await refused(422, /TypeScript tools require an explicit json_schema parameter/, 'POST', '/v1/tools/', { source_code: 'function f() {}', source_type: 'typescript', json_schema: {} });
  });

  test('never in the place of a built-in one', () => refused(409, /built-in/, 'POST', '/v1/tools/', { source_code: source('archival_memory_search') }));
});

describe('tools are changed', () => {
  test('and run one after the other again, unless told otherwise', async () => {
    const { id } = await make('parallel', { enable_parallel_execution: true });
    assert.equal((await ok('PATCH', `/v1/tools/${id}`, { enable_parallel_execution: null })).enable_parallel_execution, true);
    assert.equal((await ok('PATCH', `/v1/tools/${id}`, { description: 'x' })).enable_parallel_execution, false);
    assert.equal((await ok('PATCH', `/v1/tools/${id}`, { enable_parallel_execution: true })).enable_parallel_execution, true);
  });

  test('to a source that has the words of its function', async () => {
    const { id } = await make('worded');
    const change = body => ['PATCH', `/v1/tools/${id}`, body];
    assert.equal((await ok(...change({ source_code: '# def worded\n' }))).source_code, '# def worded\n');
    await refused(400, "Tool name 'other' does not match the name in the JSON schema 'other' or in the source code `x = 1`", ...change({ source_code: 'x = 1', json_schema: schema('other') }));
    await refused(400, /^Tool name 'worded'/, ...change({ source_code: 'def worded(): pass', source_type: 'typescript' }));
    await ok(...change({ source_code: 'export function worded() {}', source_type: 'typescript' }));
  });
});

describe('tools are listed', () => {
  const names = async query => (await ok('GET', `/v1/tools/?order=asc&${query}`)).map(t => t.name);
  const count = (query, headers) => ok('GET', `/v1/tools/count?${query}`, undefined, headers);
  before(async () => {
    for (const name of ['edge_one', 'edge_two', 'edgeXone']) await make(name);
    await ok('POST', '/v1/tools/', { source_code: source('edge_project') }, { 'x-project-id': 'project-two' });
  });

  test('by one name and more names', async () => {
    assert.deepEqual(await names('name=edge_one&names=edge_two'), ['edge_one', 'edge_two']);
    assert.equal(await count('name=edge_one&names=edge_two'), 2);
  });

  test('by a part of the name, with the wildcards of SQL', async () => {
    assert.deepEqual(await names('search=EDGE_one'), ['edge_one', 'edgeXone']);
    assert.deepEqual(await names(`search=${encodeURIComponent('edge%two')}`), ['edge_two']);
    assert.deepEqual(await names(`search=${encodeURIComponent('edge\\_one')}`), ['edge_one']);
    assert.equal(await count('search=edge_one'), 2);
  });

  test('nothing for a limit of 0', async () => assert.deepEqual(await names('limit=0'), []));

  test('of a project, also when they are counted', async () => {
    assert.equal(await count('search=edge_p'), 1);
    assert.equal(await count('search=edge_p', { 'x-project-id': 'project-two' }), 1);
    assert.equal(await count('search=edge_p', { 'x-project-id': 'project-three' }), 0);
  });

  test('without the built-in ones only where they are counted', async () => {
    assert.ok((await names('exclude_letta_tools=true&limit=500')).includes('conversation_search'));
    assert.equal(await count('exclude_letta_tools=true&name=conversation_search'), 0);
    await refused(400, /^Invalid tool_type 'zzz'/, 'GET', '/v1/tools/?exclude_tool_types=zzz');
  });

  test('with the built-in ones that were deleted, from the beginning', async () => {
    const gone = (await ok('GET', '/v1/tools/?name=web_search'))[0];
    await ok('DELETE', `/v1/tools/${gone.id}`);
    const [edge] = await ok('GET', '/v1/tools/?name=edge_one');
    const [back] = await ok('GET', '/v1/tools/?name=web_search');
    assert.ok(edge && back && back.id !== gone.id);
    await ok('DELETE', `/v1/tools/${back.id}`);
    assert.deepEqual(await ok('GET', `/v1/tools/?order=asc&name=web_search&after=${edge.id}`), []);
    assert.equal(await count('name=web_search'), 0);
    await ok('GET', '/v1/tools/');
    assert.equal(await count('name=web_search'), 1);
  });
});

describe('sources', () => {
  test('are run by the name of a function, with or without a docstring', async () => {
    const source_code = 'def one(n: int):\n    return n + 1\n\ndef two(n: int):\n    """Two.\n\n    Args:\n        n: n\n    """\n    return n + 2\n';
    const run = async more => (await ok('POST', '/v1/tools/run', { source_code, args: { n: '1' }, ...more })).tool_return;
    assert.deepEqual([await run({ name: 'one' }), await run({}), await run({ json_schema: {} })], ['2', '3', '3']);
    await refused(400, 'INVALID_ARGUMENT: Tool source type is not supported at this time. Found ruby', 'POST', '/v1/tools/run', { source_code, args: {}, source_type: 'ruby' });
  });

  test('whose annotations have no schema say which', async () => {
    const why = async (annotation, text) => refused(400, new RegExp(`^Schema generation failed: Value error in schema generation: ${escaped(text)}`), 'POST', '/v1/tools/generate-schema', { code: source('f', `x: ${annotation}`) });
    await why('Union[int, str]', 'Python type Union[(int, str)] has no corresponding');
    await why('Dict[str, int]', 'Python type typing.Dict[(str, int)] has no corresponding');
    await why('dict[str, int]', "Dictionary types dict['(str, int)'] with nested type arguments are not supported");
    await why('tuple[int, int]', 'Python type tuple[(int, int)] has no corresponding');
    await refused(400, 'Schema generation failed: No functions found in source code', 'POST', '/v1/tools/generate-schema', { code: 'x = 1' });
  });

  test('are not written by a model', async () => assert.equal((await api('POST', '/v1/tools/generate-tool', {})).status, 501));
});

describe('around them', () => {
  test('requests are checked before they are refused', async () => {
    await refused(400, /embed_tools/, 'POST', '/v1/tools/search', {});
    for (const body of [{ limit: 0 }, { limit: 101 }, { search_mode: 'deep' }, { colour: 1 }, undefined]) assert.equal((await api('POST', '/v1/tools/search', body)).status, 422);
    await refused(422, /'type': 'enum', 'loc': \('query', 'provider_type'\)/, 'GET', '/v1/models/?provider_type=nonsense');
    for (const type of ['openai', 'hugging-face']) await ok('GET', `/v1/models/?provider_type=${type}`);
    assert.equal(await ok('GET', '/v1/telemetry/nonsense'), null);
  });

  test('groups are listed by what they have', async () => {
    const agent = await ok('POST', '/v1/agents/', { model: 'rehearsal/default', include_base_tools: false });
    const unknown = 'block-00000000-0000-4000-8000-000000000001';
    const group = await ok('POST', '/v1/groups/', { agent_ids: [agent.id], description: 'g', shared_block_ids: [unknown] });
    assert.deepEqual(group.shared_block_ids, []);
    const ids = async target => (await ok('GET', target)).map(g => g.id);
    for (const query of ['/groups/?project_id=', `/agents/${agent.id}/groups`, `/agents/${agent.id}/groups?manager_type=`, `/agents/${agent.id}/groups?project_id=x`]) assert.deepEqual(await ids(`/v1${query}`), [group.id], query);
    assert.deepEqual(await ids(`/v1/agents/${agent.id}/groups?manager_type=foo`), []);
    assert.equal((await api('GET', '/v1/groups/?show_hidden_groups=maybe')).status, 422);
    for (const how of ['attach', 'detach']) {
      await refused(400, "INVALID_ARGUMENT: Invalid block ID format: nonsense. Expected format: 'block-<uuid4>'", 'PATCH', `/v1/groups/${group.id}/blocks/${how}/nonsense`);
      await refused(404, /^Block not found with id=/, 'PATCH', `/v1/groups/${group.id}/blocks/${how}/${unknown}`);
    }
    const boss = await ok('POST', '/v1/agents/', { model: 'rehearsal/default', include_base_tools: false });
    const led = await ok('POST', '/v1/groups/', { agent_ids: [agent.id], description: 'l', manager_config: { manager_type: 'supervisor', manager_agent_id: boss.id } });
    const nowhere = 'message-00000000-0000-4000-8000-000000000001';
    await refused(404, `No message found with id '${nowhere}' for agent '${boss.id}'.`, 'GET', `/v1/groups/${led.id}/messages?before=${nowhere}`);
  });
});
