// A reasoning model behind OpenAI's Responses API: thoughts are shown, kept and sent along again, in every mode.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { frames } from '../lib/openapi.mjs';
import { calls, said, startResponses, thought } from '../lib/responses.mjs';
import { call, startServer } from '../lib/server.mjs';

let server, model, decide;

before(async () => {
  model = await startResponses(body => decide(body));
  server = await startServer({ env: model.env });
});
after(async () => { await server.stop(); model.stop(); });

async function post(target, body) {
  const answer = await call(server.base, 'POST', target, body);
  return { status: answer.status, ...(answer.json ? { json: answer.json } : { events: frames(answer.text) }) };
}
const newAgent = async more => (await post('/v1/agents/', { model: model.handle, memory_blocks: [{ label: 'notes', value: 'first' }], ...more })).json;
const says = (content, more) => ({ messages: [{ role: 'user', content }], ...more });
const shapes = messages => messages.map(m => [m.message_type, m.reasoning ?? m.content ?? m.tool_call?.name ?? m.tool_return]);

const lastItem = body => body.input.at(-1);
const think = thought('r1', 'one', 'two');
const writeNote = calls('call_1', 'memory_insert', { label: 'notes', new_string: 'noted' });
const toolThenText = body => (lastItem(body).type === 'function_call_output' ? [thought('r2', 'three'), said('it is done')] : [think, writeNote]);

const whole = [['reasoning_message', 'one\n\ntwo'], ['tool_call_message', 'memory_insert'], ['tool_return_message', 'first\nnoted'], ['reasoning_message', 'three'], ['assistant_message', 'it is done']];

test('a turn with thoughts and a tool', async () => {
  decide = toolThenText;
  const agent = await newAgent();
  const answer = await post(`/v1/agents/${agent.id}/messages`, says('go'));
  assert.equal(answer.status, 200);
  assert.deepEqual(shapes(answer.json.messages), whole);
  assert.equal(answer.json.messages[0].signature, 'sealed-r1');
  const { prompt_tokens, completion_tokens, cached_input_tokens, reasoning_tokens, step_count } = answer.json.usage;
  assert.deepEqual({ prompt_tokens, completion_tokens, cached_input_tokens, reasoning_tokens, step_count }, { prompt_tokens: 40, completion_tokens: 20, cached_input_tokens: 8, reasoning_tokens: 12, step_count: 2 });

  const again = model.requests.at(-1);
  assert.deepEqual(again.input.slice(1).map(i => i.type ?? i.role), ['user', 'reasoning', 'function_call', 'function_call_output']);
  assert.deepEqual(again.input[2], think);
  assert.equal(again.input[0].role, 'developer');
  assert.equal(again.store, false);
});

test('the same in tokens', async () => {
  decide = toolThenText;
  const agent = await newAgent();
  const { events } = await post(`/v1/agents/${agent.id}/messages/stream`, says('go', { stream_tokens: true, include_pings: false }));
  const joined = [];
  for (const m of events.filter(e => e?.id)) {
    const text = m.reasoning ?? m.content ?? m.tool_call?.arguments ?? m.tool_return ?? '';
    if (joined.at(-1)?.[0] === m.message_type) joined.at(-1)[1] += text;
    else joined.push([m.message_type, text]);
  }
  assert.deepEqual(joined, [whole[0], ['tool_call_message', writeNote.arguments], ...whole.slice(2)]);
  const listed = (await call(server.base, 'GET', `/v1/agents/${agent.id}/messages?limit=3`)).json;
  assert.deepEqual(shapes(listed).slice(0, 2), whole.slice(0, 2));
});

test('a reply that was cut off says so', async () => {
  decide = () => ({ output: [said('half of')], status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
  const agent = await newAgent();
  const answer = await post(`/v1/agents/${agent.id}/messages`, says('go'));
  assert.equal(answer.json.stop_reason.stop_reason, 'max_tokens_exceeded');
  const events = (await post(`/v1/agents/${agent.id}/messages/stream`, says('go', { stream_tokens: true }))).events;
  assert.equal(events.find(e => e.message_type === 'stop_reason').stop_reason, 'max_tokens_exceeded');
});

test('errors by status and inside an answer', async () => {
  const agent = await newAgent();
  decide = () => ({ http: 429 });
  assert.equal((await post(`/v1/agents/${agent.id}/messages`, says('go'))).status, 429);
  decide = () => ({ output: [], status: 'failed', error: { code: 'server_error', message: 'oops' } });
  const failed = await post(`/v1/agents/${agent.id}/messages`, says('go'));
  assert.equal(failed.status, 500);
  assert.match(failed.json.error.detail, /oops/);
  const { text } = await call(server.base, 'POST', `/v1/agents/${agent.id}/messages/stream`, says('go', { stream_tokens: true, include_pings: false }));
  assert.match(text, /"stop_reason":"llm_api_error"[\s\S]*event: error\ndata: .*oops[\s\S]*\[DONE\]/);
});
