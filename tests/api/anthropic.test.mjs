// What the recordings of Anthropic's protocol do not show, because the original loses it: every block of a reply is
// kept in its order, each thought with its own signature, in every mode. And: a provider that is busy is asked again.
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { frames } from '../lib/openapi.mjs';
import { call, startProgram, startServer } from '../lib/server.mjs';

const mockFile = path.resolve(import.meta.dirname, '../golden/mock-anthropic.mjs');
const handle = 'anthropic/claude-sonnet-4-5-20250929';
let server, mock, front, busy = []; // busy: what is answered in the mock's place, first come first served

const freePort = () => new Promise(done => { const s = net.createServer().listen(0, '127.0.0.1', () => { const { port } = s.address(); s.close(() => done(port)); }); });

// Stands before the mock, so that a test can be told no a few times first.
async function startFront(port) {
  const requests = [];
  const answer = async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    requests.push({ headers: request.headers, body: body.length ? JSON.parse(body) : null });
    if (request.method === 'POST' && busy.length) return busy.shift()(response);
    const target = http.request({ port, host: '127.0.0.1', path: request.url, method: request.method, headers: { 'content-length': body.length } }, from => { response.writeHead(from.statusCode, from.headers); from.pipe(response); });
    target.end(body);
  };
  const s = http.createServer((request, response) => answer(request, response).catch(e => response.destroy(e)));
  await new Promise(done => s.listen(0, '127.0.0.1', done));
  s.unref();
  return { requests, url: `http://127.0.0.1:${s.address().port}`, stop: () => { s.closeAllConnections(); s.close(); } };
}

before(async () => {
  const port = await freePort();
  mock = await startProgram(mockFile, ['--port', String(port)], /mock anthropic/);
  front = await startFront(port);
  server = await startServer({ env: { ANTHROPIC_API_KEY: 'secret', ANTHROPIC_BASE_URL: front.url } });
});
after(async () => { await server.stop(); front.stop(); mock.stop(); });

async function post(target, body) {
  const answer = await call(server.base, 'POST', target, body);
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  return answer.json ?? frames(answer.text);
}
const get = async target => (await call(server.base, 'GET', target)).json;
const newAgent = () => post('/v1/agents/', { model: handle, memory_blocks: [{ label: 'notes', value: 'first' }], include_base_tools: false, tools: ['memory_insert'], model_settings: { provider_type: 'anthropic', thinking: { type: 'enabled', budget_tokens: 1024 } } });
const says = (content, more) => ({ messages: [{ role: 'user', content }], ...more });

const script = 'think one | redacted | think two | say I write | calls memory_insert {"label":"notes","new_string":"a"} ;; memory_insert {"label":"notes","new_string":"b"}';
const shapes = messages => messages.filter(m => m.id && m.message_type !== 'ping').map(m => [m.message_type, m.reasoning ?? m.hidden_reasoning ?? m.content ?? m.tool_returns?.length ?? m.tool_calls.length, m.signature ?? null]);
const whole = [
  ['reasoning_message', 'one', 'sig_b25l'], ['hidden_reasoning_message', 'cmVkYWN0ZWQgYnkgdGhlIG1vY2s=', null], ['reasoning_message', 'two', 'sig_dHdv'],
  ['assistant_message', 'I write', null], ['tool_call_message', 2, null], ['tool_return_message', 2, null],
];

test('blocking', async () => {
  const agent = await newAgent();
  assert.deepEqual(shapes((await post(`/v1/agents/${agent.id}/messages`, says(script))).messages).slice(0, 6), whole);
  assert.deepEqual(front.requests.at(-1).headers['x-api-key'], 'secret');
  assert.equal(front.requests.at(-1).headers['anthropic-version'], '2023-06-01');
  const again = front.requests.at(-1).body.messages;
  assert.deepEqual(again[1].content.map(b => b.type), ['thinking', 'redacted_thinking', 'thinking', 'text', 'tool_use', 'tool_use']);
  assert.deepEqual([again[1].content[0].signature, again[1].content[2].signature], ['sig_b25l', 'sig_dHdv']);
  assert.deepEqual(again[2].content.map(b => b.type), ['tool_result', 'tool_result']);
});

test('steps', async () => {
  const agent = await newAgent();
  assert.deepEqual(shapes(await post(`/v1/agents/${agent.id}/messages/stream`, says(script))).slice(0, 6), whole);
});

test('tokens', async () => {
  const agent = await newAgent();
  const events = (await post(`/v1/agents/${agent.id}/messages/stream`, says(script, { stream_tokens: true }))).filter(m => m.id && m.message_type !== 'ping');
  const order = events.map(m => m.message_type).filter((t, i, all) => t !== all[i - 1]);
  assert.deepEqual(order.slice(0, 6), whole.map(([type]) => type));
  const pieces = events.filter(m => m.message_type === 'tool_call_message').map(m => m.tool_call);
  assert.ok(pieces.every(p => p.name === 'memory_insert' && p.tool_call_id));
  const texts = new Map();
  for (const p of pieces) texts.set(p.tool_call_id, (texts.get(p.tool_call_id) ?? '') + (p.arguments ?? ''));
  assert.deepEqual([...texts.values()].map(t => JSON.parse(t).new_string), ['a', 'b']);
  const stored = await get(`/v1/agents/${agent.id}/messages?limit=4&order=desc`);
  assert.deepEqual(shapes(stored).slice(1, 7), whole);
  assert.deepEqual(new Set(events.slice(0, 5).map(m => m.id)), new Set([stored[1].id]));
});

const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'busy' } };
const refuse = response => response.writeHead(529, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify(overloaded));
const breakOff = response => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`event: error\ndata: ${JSON.stringify(overloaded)}\n\n`);

test('a provider that is busy is asked again', async () => {
  const agent = await newAgent();
  busy = [refuse, refuse];
  assert.deepEqual(shapes((await post(`/v1/agents/${agent.id}/messages`, says('hello'))).messages), [['assistant_message', 'echo: hello', null]]);
  busy = [breakOff]; // before anything was said
  const events = await post(`/v1/agents/${agent.id}/messages/stream`, says('hello', { stream_tokens: true }));
  assert.equal(events.filter(m => m.message_type === 'assistant_message').map(m => m.content).join(''), 'echo: hello');
  busy = [refuse, refuse, refuse];
  const answer = await call(server.base, 'POST', `/v1/agents/${agent.id}/messages`, says('hello'));
  assert.equal(answer.status, 503);
  assert.match(answer.json.detail, /Anthropic API is overloaded/);
});
