// OpenAI's Responses API for a test, in the test's own process: `decide` gives the output items of each request.
//   const model = await startResponses(body => [thought('r1', 'let me see'), said('hello')]);
//   const server = await startServer({ env: model.env });        handles are openai-proxy/gpt-5-mini
// The address holds the name of OpenAI's own host, because only there the protocol is spoken.
import http from 'node:http';

export const thought = (id, ...texts) => ({ id, type: 'reasoning', summary: texts.map(text => ({ type: 'summary_text', text })), encrypted_content: `sealed-${id}` });
export const said = text => ({ id: 'msg', type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text, annotations: [] }] });
export const calls = (call_id, name, args) => ({ id: `fc_${call_id}`, type: 'function_call', call_id, name, arguments: JSON.stringify(args), status: 'completed' });

const words = text => text.split(/(?<= )/).filter(Boolean);

// The events of one item, each as [type, members].
function* eventsOf(item, output_index) {
  const open = { reasoning: { ...item, summary: [], encrypted_content: null }, message: { ...item, content: [] }, function_call: { ...item, arguments: '' } }[item.type];
  yield ['output_item.added', { output_index, item: open }];
  for (const [summary_index, part] of (item.summary ?? []).entries()) {
    yield ['reasoning_summary_part.added', { output_index, summary_index, part: { type: 'summary_text', text: '' } }];
    for (const delta of words(part.text)) yield ['reasoning_summary_text.delta', { output_index, summary_index, delta }];
    yield ['reasoning_summary_text.done', { output_index, summary_index, text: part.text }];
  }
  for (const delta of words(item.content?.[0]?.text ?? '')) yield ['output_text.delta', { output_index, content_index: 0, delta }];
  for (const delta of (item.arguments ?? '').match(/.{1,8}/gs) ?? []) yield ['function_call_arguments.delta', { output_index, delta }];
  yield ['output_item.done', { output_index, item }];
}

export async function startResponses(decide) {
  const requests = [];
  const answer = async (request, response) => {
    const json = (value, status = 200) => response.writeHead(status, { 'content-type': 'application/json', 'x-should-retry': 'false' }).end(JSON.stringify(value));
    if (request.url.endsWith('/models')) return json({ object: 'list', data: [{ id: 'gpt-5-mini', object: 'model' }, { id: 'gpt-4o-mini', object: 'model' }] });
    if (!request.url.endsWith('/responses')) return json({ error: { message: `no such path ${request.url}` } }, 404);
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    requests.push(body);
    const decided = await decide(body);
    if (decided.http) return json({ error: { message: 'scripted failure', code: decided.http } }, decided.http);
    const { output = decided, ...more } = Array.isArray(decided) ? {} : decided;
    const whole = { id: 'resp', object: 'response', model: body.model, status: 'completed', incomplete_details: null, error: null, output,
      usage: { input_tokens: 20, input_tokens_details: { cached_tokens: 4 }, output_tokens: 10, output_tokens_details: { reasoning_tokens: 6 }, total_tokens: 30 }, ...more };
    if (!body.stream) return json(whole);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type, members) => response.write(`event: response.${type}\ndata: ${JSON.stringify({ type: `response.${type}`, ...members })}\n\n`);
    send('created', { response: { ...whole, status: 'in_progress', output: [] } });
    for (const [index, item] of output.entries()) for (const [type, members] of eventsOf(item, index)) send(type, members);
    send(whole.status, { response: whole });
    response.end();
  };
  const server = http.createServer((request, response) => answer(request, response).catch(e => response.destroy(e)));
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  server.unref();
  const base = `http://127.0.0.1:${server.address().port}/api.openai.com/v1`;
  return { base, requests, handle: 'openai-proxy/gpt-5-mini', env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: base }, stop: () => { server.closeAllConnections(); server.close(); } };
}
