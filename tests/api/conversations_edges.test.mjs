// Conversations, sends and batches at their edges: what is not given, what is not there, what is refused and in which
// words.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gate, lastText, obey, startModel, textOf } from '../lib/model.mjs';
import { call, eventually, startServer } from '../lib/server.mjs';

let server, model, requests, held;
before(async () => {
  requests = [];
  model = await startModel(async body => {
    requests.push(body);
    if (/^think/.test(lastText(body))) await held.pass();
    if (body.tools?.some(t => t.function.name === 'send_message')) return { calls: [{ name: 'send_message', args: { thinking: 'I am asked', message: 'hello' } }] };
    return obey(body);
  });
  server = await startServer({ env: model.env });
});
after(async () => { await server.stop(); model.stop(); });

const api = (method, target, body, headers) => call(server.base, method, `/v1${target}`, body, headers);
const ok = async (...request) => { const answer = await api(...request); assert.equal(answer.status, 200, `${request.slice(0, 2)}: ${answer.text}`); return answer.json; };
const refused = async (status, detail, ...request) => {
  const answer = await api(...request), name = `${request.slice(0, 2)}: ${answer.text}`;
  assert.equal(answer.status, status, name);
  if (detail instanceof RegExp) assert.match(answer.json.detail, detail, name);
  else if (detail) assert.equal(answer.json.detail, detail, name);
};
const newAgent = (more = {}) => ok('POST', '/agents/', { model: model.handle, embedding: 'letta/letta-free', include_base_tools: false, tools: ['memory_insert'], memory_blocks: [{ label: 'notes', value: 'paper' }], ...more });
const newConversation = (agent, more = {}) => ok('POST', `/conversations/?agent_id=${agent.id}`, more);
const user = content => ({ messages: [{ role: 'user', content }], streaming: false });
const say = (conversation, text, more = {}) => ok('POST', `/conversations/${conversation.id}/messages`, { ...user(`say ${text}`), ...more });
const ids = list => list.map(x => x.id);
const nobody = 'agent-00000000-0000-4000-8000-000000000001', nothing = 'message-00000000-0000-4000-8000-000000000001';
const noImage = { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'ftp://127.0.0.1/none.png' } }] }] };
const waiting = /^CONFLICT: Cannot send a new message: The agent is waiting for approval on a tool call\./;

describe('a list of conversations', () => {
  for (const order of ['last_message_at', 'last_run_completion'])
    test(`goes by ${order}, those without it last`, async () => {
      const agent = await newAgent(), [a, b, c, d] = [await newConversation(agent), await newConversation(agent), await newConversation(agent), await newConversation(agent)];
      await say(b, 'one');
      await say(a, 'two');
      const list = query => ok('GET', `/conversations/?agent_id=${agent.id}&order_by=${order}&${query}`).then(ids);
      const [low, high] = [c.id, d.id].toSorted();
      assert.deepEqual(await list('order=desc'), [a.id, b.id, high, low]);
      assert.deepEqual(await list('order=asc'), [b.id, a.id, low, high]);
      assert.deepEqual(await list(`order=desc&after=${a.id}&limit=2`), [b.id, high]);
      assert.deepEqual(await list(`order=desc&after=${high}`), [low]);
      const unknown = `/conversations/?order_by=${order}&after=conv-00000000-0000-4000-8000-000000000001`;
      assert.equal((await api('GET', unknown)).status, order === 'last_run_completion' ? 200 : 404);
    });
});

describe('a conversation', () => {
  test('notes when somebody writes to it, whatever comes of that', async () => {
    const agent = await newAgent(), fresh = await newConversation(agent), path = `/conversations/${fresh.id}`;
    await refused(422, 'Messages must not be empty', 'POST', `${path}/messages`, { messages: [] });
    assert.equal((await ok('GET', path)).last_message_at, null);
    await refused(404, null, 'POST', `${path}/messages`, { ...user('x'), override_model: 'nowhere/nothing' });
    const noted = await ok('GET', path);
    assert.ok(noted.last_message_at);
    assert.equal(noted.updated_at, noted.last_message_at);
    await say(fresh, 'one');
    const later = await ok('GET', path);
    assert.ok(later.last_message_at > noted.last_message_at);
    assert.equal(later.updated_at, later.last_message_at);
  });

  test('lists the messages of one group', async () => {
    const agent = await newAgent(), a = await newConversation(agent), group_id = 'group-00000000-0000-4000-8000-000000000001';
    await ok('POST', `/conversations/${a.id}/messages`, { messages: [{ role: 'user', content: 'say one', group_id }], streaming: false });
    const list = query => ok('GET', `/conversations/${a.id}/messages?order=asc&${query}`);
    assert.deepEqual((await list(`group_id=${group_id}`)).map(m => m.content), ['say one']);
    assert.equal((await list('group_id=')).length, 3);
  });

  test('shows what was thought as what was said, for every kind of agent', async () => {
    const agent = await newAgent({ agent_type: 'memgpt_agent', include_base_tools: true, tools: [] }), a = await newConversation(agent);
    await say(a, 'hi');
    const listed = await ok('GET', `/conversations/${a.id}/messages`);
    assert.ok(listed.some(m => m.message_type === 'assistant_message' && m.content === 'I am asked'), JSON.stringify(listed));
    assert.ok(!listed.some(m => m.message_type === 'reasoning_message'));
  });

  test('is forked with all but what is first in it', async () => {
    const agent = await newAgent(), a = await newConversation(agent);
    await ok('POST', `/conversations/${a.id}/messages`, { messages: [{ role: 'system', content: 'be brief' }, { role: 'user', content: 'say one' }], streaming: false });
    const fork = await ok('POST', `/conversations/${a.id}/fork`);
    assert.deepEqual((await ok('GET', `/conversations/${fork.id}/messages?order=asc`)).slice(1).map(m => m.content), ['be brief', 'say one', 'one']);
  });

  test('has no model where that is empty, and then no settings of it', async () => {
    const agent = await newAgent(), a = await newConversation(agent, { model: '', model_settings: { provider_type: 'openai', temperature: 0.125 } });
    assert.equal(a.model, '');
    await say(a, 'one', { override_model: '' });
    assert.notEqual(requests.at(-1).temperature, 0.125);
    await ok('PATCH', `/conversations/${a.id}`, { model: model.handle });
    await say(a, 'two');
    assert.equal(requests.at(-1).temperature, 0.125);
    await ok('PATCH', `/conversations/${a.id}`, { model: '' });
    await say(a, 'three');
    assert.notEqual(requests.at(-1).temperature, 0.125);
    assert.equal((await ok('POST', `/agents/${agent.id}/generate`, { prompt: 'say it', override_model: '' })).content, 'it');
    await refused(422, /union_tag_not_found.*provider_type/, 'PATCH', `/conversations/${a.id}`, { model_settings: {} });
    await refused(422, /union_tag_not_found/, 'POST', `/conversations/?agent_id=${agent.id}`, { model_settings: {} });
  });

  test('is refused a block that its agent has not', async () => {
    const agent = await newAgent();
    await refused(400, `INVALID_ARGUMENT: Block with label 'nope' not found on agent '${agent.id}'`, 'POST', `/conversations/?agent_id=${agent.id}`, { isolated_block_labels: ['nope'] });
  });
});

describe('a preview', () => {
  test('is refused as the turn would be', async () => {
    const agent = await newAgent({ tool_rules: [{ type: 'requires_approval', tool_name: 'memory_insert' }] }), a = await newConversation(agent);
    const approval = { messages: [{ type: 'approval', approvals: [{ type: 'approval', approve: true, tool_call_id: 'call_x' }] }] };
    for (const path of [`/agents/${agent.id}`, `/conversations/${a.id}`]) {
      const preview = `${path}/messages/preview-raw-payload`;
      await refused(422, 'Messages must not be empty', 'POST', preview, { messages: [] });
      await refused(400, 'Message content is empty or invalid', 'POST', preview, user(''));
      await refused(400, /^Cannot process approval response: No tool call is currently awaiting approval\./, 'POST', preview, approval);
      assert.equal(textOf((await ok('POST', preview, { ...user('shown'), max_steps: 0 })).messages.at(-1)), 'shown');
      await ok('POST', `${path}/messages`, user('call memory_insert {"label":"notes","new_string":"red"}'));
      await refused(409, waiting, 'POST', preview, user('x'));
    }
    assert.deepEqual((await ok('GET', `/conversations/${a.id}/messages`)).map(m => m.message_type).slice(0, 1), ['approval_request_message'], 'nothing is kept');
  });
});

describe('a send', () => {
  test('says all that makes no sense without a stream, and in which order', async () => {
    const agent = await newAgent(), path = `/agents/${agent.id}/messages`;
    const options = { stream_tokens: true, include_pings: false, background: true };
    await refused(422, 'Streaming options set without streaming enabled. stream_tokens can only be true when streaming=true; include_pings can only be set to false when streaming=true; background can only be true when streaming=true. Either set streaming=true or use default values for streaming options.',
      'POST', path, { ...user('x'), ...options });
    const older = { 'x-stainless-package-version': '', 'user-agent': 'curl/8.0' };
    await refused(422, 'Messages must not be empty', 'POST', path, { messages: [], streaming: true }, older);
    await refused(422, 'streaming=true is only supported for SDK v1.0+ clients.', 'POST', path, { ...user('x'), streaming: true }, older);
  });

  test('checks the parts of its content, and what its own model has', async () => {
    const agent = await newAgent(), path = `/agents/${agent.id}/messages`;
    const parts = (...content) => ({ messages: [{ role: 'user', content }] });
    const returned = tool_return => ({ messages: [{ type: 'tool_return', tool_returns: [{ tool_call_id: 'x', status: 'success', tool_return }] }] });
    for (const bad of [parts({ type: 'tool_call', id: 'x', name: 'y' }), parts({ type: 'tool_return', tool_call_id: 'x', content: 'y' }), parts({ type: 'reasoning', reasoning: 'x' }), parts({ type: 'redacted_reasoning' }),
      parts({ type: 'summarized_reasoning', id: 'x', summary: [{ text: 'x' }] }), returned([{ type: 'reasoning', is_native: true, reasoning: 'x' }]), { ...user('x'), streaming: 5.5 }])
      await refused(422, null, 'POST', path, bad);
    await refused(422, /bool_type/, 'POST', path, { ...user('x'), streaming: null });
    await ok('POST', path, { ...user('say one'), agent_id: 5, callback_url: 5, override_system: null, system: 5 });
    await ok('POST', path, parts({ type: 'text', text: 'say two' }, { type: 'omitted_reasoning' }));
    await ok('POST', path, { messages: [{ type: null, role: 'user', content: 'say three' }] });
    await ok('POST', `${path}/async`, { ...user('say four'), streaming: 'maybe', agent_id: 5 });
    await refused(422, /callback_url/, 'POST', `${path}/async`, { ...user('x'), callback_url: 5 });
    await refused(422, /agent_id/, 'POST', `/conversations/${agent.id}/messages`, { ...user('x'), agent_id: 5 });
  });

  test('with an image that cannot be had leaves a run that failed', async () => {
    const agent = await newAgent(), text = /^INVALID_ARGUMENT: Unsupported image URL scheme 'ftp'/;
    const runs = () => ok('GET', `/runs/?agent_id=${agent.id}`);
    await refused(400, text, 'POST', `/agents/${agent.id}/messages`, noImage);
    assert.deepEqual((await runs()).map(r => [r.status, text.test(r.metadata.error)]), [['failed', true]]);
    const stream = await api('POST', `/agents/${agent.id}/messages`, { ...noImage, streaming: true });
    assert.equal(stream.status, 200);
    const events = stream.text.split('\n\n').filter(Boolean);
    const data = events.map(e => e.slice(e.indexOf('data: ') + 6));
    assert.deepEqual(data.slice(0, -1).map(d => JSON.parse(d).message_type), ['ping', 'stop_reason', 'error_message']);
    assert.match(events[2], /^event: error\n/);
    assert.equal(data.at(-1), '[DONE]');
    for (const [body, why] of [[noImage, text], [{ ...user('x'), override_model: 'nowhere/nothing' }, /nowhere\/nothing not found/]]) {
      const run = await ok('POST', `/agents/${agent.id}/messages/async`, body);
      assert.equal(run.status, 'created');
      const ended = await eventually(() => ok('GET', `/runs/${run.id}`), r => r.completed_at);
      assert.deepEqual([ended.status, ended.stop_reason], ['failed', 'error']);
      assert.match(ended.metadata.error, why);
    }
    assert.equal((await runs()).length, 4);
    await ok('POST', `/agents/${agent.id}/messages`, user('say on'));
  });
});

describe('what is not there', () => {
  test('is told of cursors in the words of their list', async () => {
    const agent = await newAgent(), unknown = id => `No message found with id '${nothing}' for agent '${id}'.`;
    for (const cursor of ['after', 'before']) {
      await refused(404, unknown(agent.id), 'GET', `/agents/${agent.id}/messages?${cursor}=${nothing}`);
      await refused(404, unknown(agent.id), 'GET', `/conversations/${agent.id}/messages?${cursor}=${nothing}`);
      await refused(404, unknown('None'), 'GET', `/messages/?${cursor}=${nothing}`);
    }
  });

  test('is told of the agent of a default thread', async () => {
    const format = "INVALID_ARGUMENT: Invalid agent ID format: foo. Expected format: 'agent-<uuid4>'";
    await refused(400, format, 'POST', '/conversations/default/messages', { ...user('x'), agent_id: 'foo' });
    await refused(400, format, 'POST', '/conversations/default/fork?agent_id=foo');
    await refused(404, `Agent with ID ${nobody} not found`, 'POST', `/conversations/default/fork?agent_id=${nobody}`);
    for (const id of ['foo', nobody]) {
      await refused(404, 'Agent not found', 'GET', `/conversations/default/messages?agent_id=${id}`);
      await refused(409, 'CONFLICT: No active runs to cancel for conversation default', 'POST', `/conversations/default/cancel?agent_id=${id}`);
    }
    await refused(409, `CONFLICT: No active runs to cancel for conversation ${nobody}`, 'POST', `/conversations/${nobody}/cancel`);
    const agent = await newAgent();
    await refused(404, /^Conversation not found/, 'POST', `/conversations/default/recompile?agent_id=${agent.id}`);
    await refused(404, /^Conversation not found/, 'POST', '/conversations/default/messages', { ...user('x'), agent_id: '' });
  });

  test('is told of runs, models and edits', async () => {
    const agent = await newAgent(), a = await newConversation(agent), edit = `/agents/${agent.id}/messages/${nothing}`;
    await refused(404, 'No run found for otid=zzz. The run may have expired or never existed.', 'POST', `/conversations/${a.id}/stream`, { otid: 'zzz' });
    await refused(400, /No active runs found/, 'POST', `/conversations/${a.id}/stream`, { run_id: '', otid: '' });
    await refused(404, "Model 'foo/bar' not found or not accessible", 'POST', `/agents/${agent.id}/generate`, { prompt: 'x', override_model: 'foo/bar' });
    await refused(422, /'missing', 'loc': \('body',\)/, 'PATCH', edit);
    await refused(422, /UpdateReasoningMessage/, 'PATCH', edit, {});
    await refused(405, /^Message editing is no longer supported/, 'PATCH', edit, { content: 'x' });
  });
});

test('the stream and the cancelling of an agent know the runs of its conversations', async () => {
  held = gate();
  const agent = await newAgent(), a = await newConversation(agent);
  const open = (path, body) => fetch(`${server.base}/v1${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  // The run is there when its stream begins; its model may have been asked before.
  const first = await open(`/conversations/${a.id}/messages`, { ...user('think'), streaming: true, background: true });
  await held.arrived;
  const again = await open(`/conversations/${agent.id}/stream`, {});
  const run = (await ok('GET', `/runs/?agent_id=${agent.id}`))[0];
  assert.deepEqual(await ok('POST', `/conversations/default/cancel?agent_id=${agent.id}`), { [run.id]: 'cancelled' });
  held.open();
  for (const stream of [first, again]) assert.match(await stream.text(), new RegExp(run.id));
});

test('what others have said is captured in the history alone', async () => {
  const agent = await newAgent(), path = `/agents/${agent.id}/messages/capture`;
  const body = { provider: 'openai', model: 'gpt', request_messages: [{ role: 'system', content: 'x' }, { role: 'user', content: 'hello' }], response_dict: { content: 'hi there' } };
  assert.deepEqual(await ok('POST', path, body), { success: true, messages_created: 2, run_ids: [] });
  assert.deepEqual((await ok('GET', `/agents/${agent.id}/messages?order=asc`)).slice(1).map(m => [m.message_type, m.content]), [['user_message', 'hello'], ['assistant_message', 'hi there']]);
  assert.equal((await ok('GET', `/agents/${agent.id}`)).message_ids.length, 1);
  await refused(404, `Agent with ID ${nobody} not found`, 'POST', `/agents/${nobody}/messages/capture`, body);
  await refused(422, null, 'POST', path, { ...body, model: undefined });
});

test('a chat completion checks what it does not use', async () => {
  const agent = await newAgent(), ask = { model: agent.id, messages: [{ role: 'user', content: 'say it' }], stream: true };
  for (const bad of [{ n: 0 }, { stop: 5 }, { stop: [5] }, { max_tokens: 'x' }, { user: 5 }, { messages: [{ role: 'user' }] }, { messages: [{ role: 'user', content: 5 }] }]) await refused(422, null, 'POST', '/chat/completions', { ...ask, ...bad });
  const good = await api('POST', '/chat/completions', { ...ask, n: 2, stop: ['x'], max_tokens: '5', messages: [{ role: 'assistant' }, ...ask.messages] });
  assert.equal(good.status, 200, good.text);
});

describe('batches', () => {
  const request = (agent, text) => ({ agent_id: agent.id, messages: [{ role: 'user', content: text }] });

  test('are listed while they work, and say whose they are', async () => {
    held = gate();
    const agent = await newAgent();
    const made = await ok('POST', '/messages/batches', { requests: [request(agent, 'think')] });
    assert.equal(Object.keys(made).at(-1), 'user_id');
    assert.equal(made.user_id, made.created_by_id);
    assert.deepEqual(made.metadata, { job_type: 'batch_messages' });
    assert.deepEqual(ids(await ok('GET', '/messages/batches')), [made.id]);
    held.open();
    await eventually(() => ok('GET', `/messages/batches/${made.id}`), j => j.status === 'completed');
    assert.deepEqual(await ok('GET', '/messages/batches'), []);
    for (const cursor of ['before', 'after'])
      for (const id of ['nonsense', 'job-00000000-0000-4000-8000-000000000001']) await refused(400, `Job with id ${id} not found`, 'GET', `/messages/batches?${cursor}=${id}`);
  });

  test('have messages that are read page by page in either order', async () => {
    const agent = await newAgent();
    const made = await ok('POST', '/messages/batches', { requests: [request(agent, 'say one'), request(agent, 'say two')] });
    await eventually(() => ok('GET', `/messages/batches/${made.id}`), j => j.status === 'completed');
    for (const order of ['asc', 'desc']) {
      const page = query => ok('GET', `/messages/batches/${made.id}/messages?order=${order}&${query}`).then(x => ids(x.messages));
      const all = await page('');
      assert.equal(all.length, 4);
      assert.deepEqual(await page(`after=${all[1]}`), all.slice(2), order);
      assert.deepEqual(await page(`before=${all[1]}`), all.slice(0, 1), order);
    }
  });
});
