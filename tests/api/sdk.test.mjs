// A tour of the API with the official TypeScript SDK. What each answer says is asserted here; that it has the type which
// the SDK declares is checked at the end, for all answers of the tour together.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Letta from '@letta-ai/letta-client';
import { SdkTypes } from '../lib/sdk_types.mjs';
import { startServer } from '../lib/server.mjs';

const model = 'rehearsal/default', embedding = 'letta/letta-free';
const types = new SdkTypes();
let server, client;

before(async () => {
  server = await startServer();
  client = types.watch(new Letta({ baseURL: server.base, maxRetries: 0 }));
});
after(() => server.stop());

const newAgent = (more = {}) => client.agents.create({ model, embedding, memory_blocks: [{ label: 'human', value: '' }, { label: 'persona', value: 'I am a test.' }], ...more });
const user = content => ({ messages: [{ role: 'user', content }] });
const kinds = messages => messages.map(m => m.message_type);
const collect = async page => { const all = []; for await (const item of page) all.push(item); return all; };
const ids = list => list.map(x => x.id);
const unique = list => [...new Set(list)];

describe('agents', () => {
  test('are created with everything a client gives, and read back', async () => {
    const made = await newAgent({ name: 'tourist', description: 'on tour', tags: ['tour', 'sdk'], metadata: { a: [1, { b: null }] }, tool_exec_environment_variables: { CITY: 'Rome' }, timezone: 'Europe/Rome' });
    assert.match(made.id, /^agent-[0-9a-f-]{36}$/);
    assert.equal(made.name, 'tourist');
    assert.deepEqual(made.tags.toSorted(), ['sdk', 'tour']);
    assert.deepEqual(made.metadata, { a: [1, { b: null }] });
    assert.equal(made.timezone, 'Europe/Rome');
    assert.equal(made.model, model);
    assert.deepEqual(made.blocks.map(b => b.label).toSorted(), ['human', 'persona']);
    assert.ok(made.tools.some(t => t.name === 'memory_insert'), 'base tools are attached');

    const bare = await client.agents.retrieve(made.id);
    assert.deepEqual([bare.blocks, bare.tools, bare.tags], [[], [], []], 'no relations unless asked for');
    const whole = await client.agents.retrieve(made.id, { include: ['agent.blocks', 'agent.tools', 'agent.tags'] });
    assert.deepEqual(ids(whole.blocks).toSorted(), ids(made.blocks).toSorted());
    assert.deepEqual(whole.tags.toSorted(), ['sdk', 'tour']);
  });

  test('are changed, and deleted', async () => {
    const made = await newAgent({ name: 'before' });
    const changed = await client.agents.update(made.id, { name: 'after', description: 'new', tags: ['changed'], model_settings: { provider_type: 'openai', temperature: 0.5, max_output_tokens: 100 } });
    assert.equal(changed.name, 'after');
    const read = await client.agents.retrieve(made.id, { include: ['agent.tags'] });
    assert.deepEqual([read.name, read.description, read.tags], ['after', 'new', ['changed']]);
    assert.equal(read.model_settings.temperature, 0.5);
    await client.agents.delete(made.id);
    await assert.rejects(client.agents.retrieve(made.id), Letta.NotFoundError);
  });

  test('are listed page by page, in both orders, by name and by tag', async () => {
    const made = [];
    for (let i = 0; i < 5; i++) made.push(await newAgent({ name: `page_${i}`, tags: ['paged', `n${i}`] }));
    for (const order of ['asc', 'desc']) {
      const all = await collect(await client.agents.list({ tags: ['paged'], limit: 2, order }));
      assert.deepEqual(ids(all), order === 'asc' ? ids(made) : ids(made).reverse());
    }
    assert.deepEqual(ids((await client.agents.list({ name: 'page_3' })).items), [made[3].id]);
    assert.deepEqual(ids((await client.agents.list({ tags: ['paged', 'n1'], match_all_tags: true })).items), [made[1].id]);
    assert.deepEqual(ids((await client.agents.list({ tags: ['paged'], order: 'asc', after: made[1].id, limit: 2 })).items), [made[2].id, made[3].id]);
    const tags = await client.tags.list();
    for (const tag of ['paged', 'n0', 'n4']) assert.ok(tags.includes(tag), `${tag} is among the tags`);
  });

  test('that nobody knows are an error of the class that the SDK has for it', async () => {
    await assert.rejects(client.agents.retrieve('agent-00000000-0000-4000-8000-000000000000'), Letta.NotFoundError);
    await assert.rejects(client.agents.retrieve('nonsense'), Letta.UnprocessableEntityError);
    await assert.rejects(client.agents.create({ model: 'no/such-model' }), Letta.NotFoundError);
  });
});

describe('messages', () => {
  test('a blocking send answers with the whole turn, its usage and its end', async () => {
    const agent = await newAgent();
    const answer = await client.agents.messages.create(agent.id, user('My name is Ada.'));
    assert.deepEqual(kinds(answer.messages), ['tool_call_message', 'tool_return_message', 'assistant_message']);
    const [call, result, said] = answer.messages;
    assert.equal(call.tool_call.name, 'memory_insert');
    assert.equal(result.tool_call_id, call.tool_call.tool_call_id);
    assert.equal(result.status, 'success');
    assert.match(said.content, /Nice to meet you, Ada/);
    assert.equal(answer.stop_reason.stop_reason, 'end_turn');
    assert.equal(answer.usage.step_count, 2);
    assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
    assert.equal((await client.agents.blocks.retrieve('human', { agent_id: agent.id })).value.trim(), 'Name: Ada');
  });

  test('the short form: input instead of messages', async () => {
    const agent = await newAgent();
    const answer = await client.agents.messages.create(agent.id, { input: 'hello' });
    assert.match(answer.messages.at(-1).content, /^Hello!/);
  });

  test('a stream of steps says its run, brings whole messages, then the end, then the usage', async () => {
    const agent = await newAgent();
    const events = await client.agents.messages.stream(agent.id, { ...user('My name is Bob.'), stream_tokens: false });
    assert.deepEqual(kinds(events), ['ping', 'tool_call_message', 'tool_return_message', 'assistant_message', 'stop_reason', 'usage_statistics']);
    assert.equal(unique(events.slice(0, 4).map(e => e.run_id)).length, 1, 'one run');
    const history = (await client.agents.messages.list(agent.id)).items;
    for (const e of events.slice(1, 4)) assert.ok(history.some(m => m.otid === e.otid && m.id === e.id && m.message_type === e.message_type), `${e.message_type} is in the history as it was streamed`);
  });

  test('a stream of tokens brings pieces that join to the message in the history', async () => {
    const agent = await newAgent();
    for (const stream of [
      () => client.agents.messages.stream(agent.id, { ...user('say one two three four five'), stream_tokens: true, include_pings: false }),
      () => client.agents.messages.create(agent.id, { ...user('say one two three four five'), streaming: true, stream_tokens: true }),
    ]) {
      const events = await stream();
      const pieces = events.filter(e => e.message_type === 'assistant_message');
      assert.ok(pieces.length > 1, 'more than one piece');
      assert.equal(pieces.map(p => p.content).join(''), 'one two three four five');
      assert.equal(unique(ids(pieces)).length, 1);
      assert.deepEqual(kinds(events).slice(-2), ['stop_reason', 'usage_statistics']);
      const last = (await client.agents.messages.list(agent.id, { limit: 1 })).items.at(-1);
      assert.deepEqual([last.id, last.content], [pieces[0].id, 'one two three four five']);
    }
  });

  test('arguments of a tool call stream as pieces that join', async () => {
    const agent = await newAgent();
    const events = await client.agents.messages.stream(agent.id, { ...user('My name is Cleo.'), stream_tokens: true });
    const pieces = events.filter(e => e.message_type === 'tool_call_message');
    assert.deepEqual(JSON.parse(pieces.map(p => p.tool_call.arguments ?? '').join('')), { label: 'human', new_string: 'Name: Cleo' });
  });

  test('history is paged, both ways and in both orders', async () => {
    const agent = await newAgent();
    for (let i = 0; i < 4; i++) await client.agents.messages.create(agent.id, user(`say number ${i}`));
    const all = (await client.agents.messages.list(agent.id, { limit: 100, order: 'asc' })).items;
    assert.deepEqual(kinds(all), ['system_message', ...Array(4).fill(['user_message', 'assistant_message']).flat()]);

    const list = query => client.agents.messages.list(agent.id, query);
    assert.deepEqual(await collect(await list({ order: 'asc', limit: 2 })), all, 'forward by the SDK');
    assert.deepEqual((await list({ limit: 3 })).items, all.slice(-3), 'the newest three, oldest first');
    assert.deepEqual((await list({ order: 'asc', after: all[4].id, limit: 2 })).items, all.slice(5, 7));
    assert.deepEqual((await list({ before: all[4].id, limit: 2 })).items, all.slice(2, 4));
    const backward = [];
    for (let page = await list({ limit: 4 }); page.items.length; page = await list({ limit: 4, before: page.items[0].id })) backward.unshift(...page.items);
    assert.deepEqual(backward, all, 'backward by hand');
    await assert.rejects(list({ after: 'message-00000000-0000-4000-8000-000000000000' }), Letta.NotFoundError);
    assert.deepEqual(await client.messages.retrieve(all[1].id), [all[1]]);
  });
});

describe('memory', () => {
  test('an edited block is in the answer, in the agent, in its prompt and in what the model sees', async () => {
    const agent = await newAgent();
    const edited = await client.agents.blocks.update('human', { agent_id: agent.id, value: 'Prefers figs to dates.' });
    assert.equal(edited.value, 'Prefers figs to dates.');
    const whole = await client.agents.retrieve(agent.id, { include: ['agent.blocks'] });
    assert.equal(whole.blocks.find(b => b.label === 'human').value, 'Prefers figs to dates.');
    const said = await client.agents.messages.create(agent.id, user('What do you know about me?'));
    assert.deepEqual(kinds(said.messages), ['reasoning_message', 'assistant_message']);
    assert.match(said.messages[1].content, /figs to dates/);
    const [prompt] = (await client.agents.messages.list(agent.id, { order: 'asc', limit: 1 })).items;
    assert.equal(prompt.message_type, 'system_message');
    assert.match(prompt.content, /Prefers figs to dates\./);
  });

  test('a block of one\'s own is shared by attaching it', async () => {
    const block = await client.blocks.create({ label: 'company', value: 'Acme', limit: 500, description: 'where they work' });
    const agents = [await newAgent(), await newAgent()];
    for (const a of agents) await client.agents.blocks.attach(block.id, { agent_id: a.id });
    assert.deepEqual(ids((await client.blocks.agents.list(block.id)).items).toSorted(), ids(agents).toSorted());
    await client.agents.blocks.update('company', { agent_id: agents[0].id, value: 'Globex' });
    assert.equal((await client.agents.blocks.retrieve('company', { agent_id: agents[1].id })).value, 'Globex');
    assert.equal((await client.blocks.retrieve(block.id)).value, 'Globex');
    await client.agents.blocks.detach(block.id, { agent_id: agents[0].id });
    assert.deepEqual((await client.agents.blocks.list(agents[0].id)).items.map(b => b.label).toSorted(), ['human', 'persona']);
    const changed = await client.blocks.update(block.id, { value: 'Initech', metadata: { since: 2020 } });
    assert.deepEqual([changed.value, changed.metadata], ['Initech', { since: 2020 }]);
    assert.ok(ids((await client.blocks.list({ label: 'company' })).items).includes(block.id));
    await client.blocks.delete(block.id);
    await assert.rejects(client.blocks.retrieve(block.id), Letta.NotFoundError);
    assert.equal((await client.agents.blocks.list(agents[1].id)).items.length, 2, 'the agent lost it as well');
  });

  test('the context is made anew on demand', async () => {
    const agent = await newAgent();
    assert.equal(typeof await client.agents.recompile(agent.id), 'string');
    await client.agents.messages.create(agent.id, user('hello'));
    assert.equal((await client.agents.retrieve(agent.id)).message_ids.length, 3);
    await client.agents.messages.reset(agent.id, { add_default_initial_messages: false });
    assert.equal((await client.agents.retrieve(agent.id)).message_ids.length, 1, 'only the prompt is in the context');
    assert.equal((await client.agents.messages.list(agent.id)).items.length, 3, 'the history stays');
  });
});

describe('tools', () => {
  test('are listed, attached and detached', async () => {
    const agent = await newAgent({ include_base_tools: false });
    assert.deepEqual((await client.agents.tools.list(agent.id)).items, []);
    const [tool] = (await client.tools.list({ name: 'memory_rethink' })).items;
    assert.equal((await client.tools.retrieve(tool.id)).name, 'memory_rethink');
    assert.equal(await client.agents.tools.attach(tool.id, { agent_id: agent.id }), null);
    assert.deepEqual((await client.agents.tools.list(agent.id)).items.map(t => t.name), ['memory_rethink']);
    await client.agents.tools.detach(tool.id, { agent_id: agent.id });
    assert.deepEqual((await client.agents.tools.list(agent.id)).items, []);
  });

  test('of the first start are all there', async () => {
    const names = (await collect(await client.tools.list({ limit: 10 }))).map(t => t.name);
    assert.equal(unique(names).length, names.length, 'each once');
    for (const name of ['send_message', 'conversation_search', 'core_memory_append', 'core_memory_replace', 'memory', 'memory_insert', 'memory_replace', 'memory_rethink', 'memory_finish_edits', 'memory_apply_patch']) assert.ok(names.includes(name), name);
  });
});

describe('runs and steps', () => {
  test('tell what a turn did', async () => {
    const agent = await newAgent();
    const answer = await client.agents.messages.create(agent.id, user('My name is Dan.'));
    const runId = answer.messages[0].run_id;
    const run = await client.runs.retrieve(runId);
    assert.deepEqual([run.status, run.stop_reason, run.agent_id], ['completed', 'end_turn', agent.id]);
    assert.deepEqual(ids((await client.runs.list({ agent_id: agent.id })).items), [runId]);
    assert.deepEqual(kinds((await client.runs.messages.list(runId, { order: 'asc' })).items), ['user_message', ...kinds(answer.messages)]);
    const steps = await collect(await client.runs.steps.list(runId, { order: 'asc', limit: 1 }));
    assert.deepEqual(ids(steps), unique(answer.messages.map(m => m.step_id)));
    const usage = await client.runs.usage.retrieve(runId);
    for (const key of ['prompt_tokens', 'completion_tokens', 'total_tokens'])
      assert.equal(usage[key], steps.reduce((sum, s) => sum + s[key], 0), `${key} of the run are the sum of its steps'`);
    assert.equal(usage.total_tokens, answer.usage.total_tokens);

    const step = await client.steps.retrieve(steps[0].id);
    assert.deepEqual([step.run_id, step.agent_id, step.status], [runId, agent.id, 'success']);
    assert.deepEqual(ids((await client.steps.list({ agent_id: agent.id, order: 'asc' })).items), ids(steps));
    assert.ok((await client.steps.messages.list(step.id)).items.every(m => m.step_id === step.id || m.step_id === undefined));
    assert.equal((await client.steps.metrics.retrieve(step.id)).run_id, runId);
    assert.equal((await client.steps.feedback.create(step.id, { feedback: 'positive' })).feedback, 'positive');
  });

  test('conversations are contexts of their own', async () => {
    const agent = await newAgent();
    const talk = await client.conversations.create({ agent_id: agent.id, summary: 'aside' });
    const events = await client.conversations.messages.create(talk.id, user('say aside'));
    assert.deepEqual(kinds(events.filter(e => e.message_type !== 'ping')), ['assistant_message', 'stop_reason', 'usage_statistics']);
    assert.ok((await client.conversations.messages.list(talk.id)).items.some(m => m.content === 'aside'));
    assert.equal((await client.conversations.retrieve(talk.id)).agent_id, agent.id);
    assert.deepEqual(ids(await client.conversations.list({ agent_id: agent.id })), [talk.id]);
  });
});

test('models and health', async () => {
  assert.ok((await client.models.list()).some(m => m.handle === model));
  assert.ok((await client.models.embeddings.list()).some(m => m.handle === embedding));
  assert.equal((await client.health()).status, 'ok');
});

describe('types', () => {
  test('the check finds an answer of another type', () => {
    const wrong = new SdkTypes();
    wrong.note('runs.list', 'Item', { id: 'run', agent_id: 'agent', status: 'complete' });
    wrong.note('runs.list', 'Item', { id: 'run', agent_id: 'agent', status: 'completed', unknown_to_the_sdk: 1 });
    assert.equal(wrong.complaints().length, 1);
  });

  test('every answer of the tour has the type that the SDK declares', () => {
    assert.ok(types.methods.length > 35, `${types.methods.length} methods were called`);
    assert.deepEqual(types.complaints(), []);
  });
});
