// A model server for a test, OpenAI-compatible, in the test's own process: `decide` gives the answer to each request.
//   const model = await startModel(async body => ({ text: 'hello' }));      also { calls: [{ name, args: {} }] } or { status: 500 }
//   const server = await startServer({ env: model.env });                   handles are openai-proxy/mock
import http from 'node:http';

export const lastText = body => textOf(body.messages?.at(-1) ?? {});
export const textOf = message => (typeof message.content === 'string' ? message.content : (message.content ?? []).map(part => part.text ?? '').join(' '));

// Holds everybody until `count` have come; `most` is how many were inside at the same time.
export function barrier(count) {
  let inside = 0, open;
  const all = new Promise(done => { open = done; });
  return async () => { if (++inside === count) open(); await all; };
}

// Holds whoever comes until it is opened; `arrived` is when somebody has come.
export function gate() {
  let come, open;
  const arrived = new Promise(done => { come = done; }), opened = new Promise(done => { open = done; });
  return { arrived, open, pass: () => { come(); return opened; } };
}

// A model that does what it is told: "calls NAME {arguments} ;; NAME {arguments}" calls tools, "say WORDS" says them;
// results of tools are repeated.
export function obey(body) {
  const text = lastText(body);
  if (body.messages.at(-1).role === 'tool') return { text: `done: ${text}` };
  const [, calls] = text.match(/^calls? (.+)$/s) ?? [];
  if (!calls) return { text: text.replace(/^say /, '') };
  return { calls: calls.split(' ;; ').map(call => { const [, name, args] = call.match(/^(\w+) ?(.*)$/s); return { name, args: JSON.parse(args || '{}') }; }) };
}

function chat(body, reply, id) {
  const calls = (reply.calls ?? []).map((c, index) => ({ index, id: `call_${id}_${index}`, type: 'function', function: { name: c.name, arguments: JSON.stringify(c.args ?? {}) } }));
  const message = { role: 'assistant', content: reply.text ?? null, ...(calls.length ? { tool_calls: calls } : {}) };
  const finish = calls.length ? 'tool_calls' : 'stop', usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
  const head = { id: `chatcmpl-${id}`, created: 1700000000, model: body.model };
  if (!body.stream) return { ...head, object: 'chat.completion', usage, choices: [{ index: 0, finish_reason: finish, message }] };
  const chunk = (choices, extra) => ({ ...head, object: 'chat.completion.chunk', choices, ...extra });
  const pieces = (reply.text ?? '').split(/(?<= )/).filter(Boolean).map(content => chunk([{ index: 0, delta: { content }, finish_reason: null }]));
  if (calls.length) pieces.push(chunk([{ index: 0, delta: { tool_calls: calls }, finish_reason: null }]));
  return [...pieces, chunk([{ index: 0, delta: {}, finish_reason: finish }]), chunk([], { usage })];
}

// The same text has the same vector, and words in common bring two near to each other.
function vector(text, size) {
  const v = new Array(size).fill(0);
  for (const word of String(text).toLowerCase().split(/\W+/)) v[[...word].reduce((h, c) => (h * 31 + c.charCodeAt(0)) >>> 0, 7) % size] += 1;
  const length = Math.hypot(...v) || 1;
  return v.map(x => x / length);
}

const embeddings = body => ({ object: 'list', model: body.model, usage: { prompt_tokens: 1, total_tokens: 1 },
  data: [body.input].flat().map((text, index) => ({ object: 'embedding', index, embedding: vector(text, body.dimensions ?? 1536) })) });

export async function startModel(decide) {
  let count = 0;
  const answer = async (request, response) => {
    const json = (value, status = 200) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (request.url.endsWith('/models')) return json({ object: 'list', data: [{ id: 'mock', object: 'model', owned_by: 'tests' }] });
    const bytes = await request.toArray();
    const body = JSON.parse(Buffer.concat(bytes).toString());
    if (request.url.endsWith('/embeddings')) return json(embeddings(body));
    const reply = await decide(body);
    if (reply.status) return json({ error: { message: 'scripted failure', type: 'mock', code: reply.status } }, reply.status);
    const said = chat(body, reply, ++count);
    if (!body.stream) return json(said);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const chunk of said) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    response.end('data: [DONE]\n\n');
  };
  const server = http.createServer((request, response) => answer(request, response).catch(e => response.destroy(e)));
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  server.unref();
  const base = `http://127.0.0.1:${server.address().port}/v1`;
  return { base, handle: 'openai-proxy/mock', env: { OPENAI_API_KEY: 'none', OPENAI_API_BASE: base }, stop: () => { server.closeAllConnections(); server.close(); } };
}
