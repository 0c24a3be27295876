// Reading a run's events again: from every place, by number, by run, by otid, in any number, after a restart; requests
// that come twice; a context that is at work. The model of the test is held and opened; no clock decides.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { gate, lastText, obey, startModel } from '../lib/model.mjs';
import { call, eventually, startServer } from '../lib/server.mjs';

let server, model, held, asked;

async function decide(body) {
  const text = lastText(body);
  asked.push(text);
  for (const [word, at] of held) if (text.includes(word)) await at.pass();
  const speaks = body.tools?.some(t => t.function.name === 'send_message');
  return speaks ? { calls: [{ name: 'send_message', args: { thinking: 'I think so.', message: text } }] } : obey(body);
}
const hold = word => { const at = gate(); held.set(word, at); return at; };
const said = text => ({ messages: [{ role: 'user', content: text }] });
const withOtid = (text, otid) => ({ messages: [{ role: 'user', content: text, otid }] });

before(async () => { model = await startModel(decide); server = await startServer({ env: model.env }); });
after(async () => { await server.stop(); await model.stop(); });
beforeEach(() => { held = new Map(); asked = []; });

const post = (path, body, headers) => call(server.base, 'POST', `/v1${path}`, body, headers);
const get = (path, headers) => call(server.base, 'GET', `/v1${path}`, undefined, headers);
const newAgent = async (body = {}) => (await post('/agents/', { name: 'ada', model: 'openai-proxy/mock', embedding: 'openai/text-embedding-3-small', include_base_tools: false, ...body })).json.id;

// A stream's text as its events; what is cut off at the end is none.
const eventsOf = text => text.split('\n\n').slice(0, -1).map(block => block.split('\n').find(l => l.startsWith('data: ')).slice(6));
const typesOf = text => eventsOf(text).map(e => (e === '[DONE]' ? e : JSON.parse(e).message_type));
const runOf = text => JSON.parse(eventsOf(text)[0]).run_id;
const finished = run => eventually(async () => (await get(`/runs/${run}`)).json.status, s => ['completed', 'failed', 'cancelled'].includes(s));

// Opens a stream and leaves it after the first event; gives the run.
async function startAndLeave(path, body) {
  const leave = new AbortController();
  const answer = await fetch(`${server.base}/v1${path}`, { method: 'POST', signal: leave.signal, body: JSON.stringify(body), headers: { 'content-type': 'application/json', 'x-stainless-package-version': '1.12.1' } });
  let text = '';
  for await (const bytes of answer.body) { text += Buffer.from(bytes); if (text.includes('\n\n')) break; }
  leave.abort();
  return runOf(text);
}

describe('resuming', () => {
  let run, whole;
  before(async () => {
    held = new Map(); asked = [];
    const { text } = await post(`/agents/${await newAgent()}/messages`, { ...said('say one two three four'), streaming: true, stream_tokens: true, background: true });
    run = runOf(text);
    whole = text;
    await finished(run);
  });

  test('a reader that is cut at any byte sees every event once', async () => {
    const all = eventsOf(whole);
    const rest = new Map();
    for (let at = 0; at <= whole.length; at++) {
      const seen = eventsOf(whole.slice(0, at));
      if (!rest.has(seen.length)) rest.set(seen.length, eventsOf((await post(`/runs/${run}/stream`, { starting_after: seen.length })).text));
      assert.deepEqual([...seen, ...rest.get(seen.length)], all);
    }
    assert.equal(rest.size, all.length + 1);
  });

  test('by GET, by Last-Event-ID, in small batches, beyond the end', async () => {
    const after3 = (await post(`/runs/${run}/stream`, { starting_after: 3 })).text;
    assert.equal((await get(`/runs/${run}/stream?starting_after=3`)).text, after3);
    assert.equal((await get(`/runs/${run}/stream`, { 'last-event-id': '3' })).text, after3);
    assert.equal((await post(`/runs/${run}/stream`, undefined, { 'last-event-id': '3' })).text, after3);
    assert.equal((await post(`/runs/${run}/stream`, { batch_size: 1 })).text, whole);
    assert.equal((await post(`/runs/${run}/stream`, { starting_after: 1000 })).text, '');
  });

  test('any number of readers while it runs', async () => {
    const agent = await newAgent(), conversation = (await post(`/conversations/?agent_id=${agent}`, {})).json.id;
    const at = hold('later');
    const live = await startAndLeave(`/conversations/${conversation}/messages`, { ...withOtid('say later', 'o-live'), stream_tokens: true, background: true });
    await at.arrived;
    const open = (method, path, body = {}) => fetch(`${server.base}/v1${path}`, { method, ...(method === 'POST' ? { body: JSON.stringify(body) } : {}) });
    const again = `/conversations/${conversation}/stream`;
    const readers = await Promise.all([open('POST', `/runs/${live}/stream`), open('GET', `/runs/${live}/stream`), open('POST', again), open('POST', again, { run_id: live }), open('POST', again, { otid: 'o-live' })]);
    at.open();
    const texts = await Promise.all(readers.map(r => r.text()));
    assert.deepEqual(typesOf(texts[0]), ['ping', 'assistant_message', 'stop_reason', 'usage_statistics', '[DONE]']);
    for (const text of texts) assert.equal(text, texts[0]);
    assert.equal((await post(again)).status, 400);
    assert.equal((await post(again, { otid: 'o-nobody' })).status, 404);
    assert.equal((await post(again, { run_id: 'nonsense' })).status, 400);
  });

  test('after a restart the steps are there, and a run that goes on is read to its end', async () => {
    const agent = await newAgent();
    const ended = await post(`/agents/${agent}/messages`, { ...said('say one two'), streaming: true, stream_tokens: true, background: true });
    const failed = runOf((await post(`/agents/${await newAgent()}/messages`, { messages: [{ role: 'user', content: '' }], streaming: true, background: true })).text);
    await finished(runOf(ended.text));
    const at = hold('slowly');
    const slow = await startAndLeave(`/agents/${agent}/messages`, { ...said('say slowly'), streaming: true, stream_tokens: true, background: true });
    await at.arrived;
    await server.kill();
    const again = hold('slowly');
    server = await startServer({ env: model.env, data: server.data });
    const rebuilt = (await post(`/runs/${runOf(ended.text)}/stream`, {})).text;
    assert.deepEqual(typesOf(rebuilt), ['ping', 'assistant_message', 'stop_reason', 'usage_statistics', '[DONE]']);
    assert.equal(JSON.parse(eventsOf(rebuilt)[1]).content, 'one two');
    assert.deepEqual(eventsOf(rebuilt).slice(0, 2).map(e => JSON.parse(e).seq_id), [1, 2]);
    assert.equal((await post(`/runs/${runOf(ended.text)}/stream`, { starting_after: 4 })).text, 'data: [DONE]\n\n');
    assert.deepEqual(typesOf((await post(`/runs/${failed}/stream`, {})).text), ['ping', 'stop_reason', 'error_message']);
    const reader = post(`/runs/${slow}/stream`, {}), late = post(`/runs/${slow}/stream`, { starting_after: 1 });
    again.open();
    const types = typesOf((await reader).text);
    assert.equal(types[0], 'ping');
    assert.deepEqual(types.slice(-3), ['stop_reason', 'usage_statistics', '[DONE]']);
    assert.deepEqual(typesOf((await late).text), types.slice(1));
  });
});

describe('the same request twice', () => {
  test('a background request of a conversation gives its run again', async () => {
    const agent = await newAgent(), body = { ...withOtid('say once', 'o-once'), agent_id: agent, background: true };
    const first = await post('/conversations/default/messages', body);
    await finished(runOf(first.text));
    assert.equal((await post('/conversations/default/messages', body)).text, first.text);
    assert.equal(asked.length, 1);
    const other = await post('/conversations/default/messages', { ...body, agent_id: await newAgent() });
    assert.notEqual(runOf(other.text), runOf(first.text)); // another context
  });

  test('while it runs it is run once, on every endpoint', async () => {
    const agent = await newAgent();
    for (const [path, body] of [['/messages', { streaming: true }], ['/messages', { streaming: true, background: true }], ['/messages/stream', { stream_tokens: true }]]) {
      asked = [];
      const at = hold('wait'), again = { ...withOtid('say wait', `o-${path}-${JSON.stringify(body)}`), ...body };
      const first = post(`/agents/${agent}${path}`, again);
      await at.arrived;
      const second = await startAndLeave(`/agents/${agent}${path}`, again);
      at.open();
      assert.equal(runOf((await first).text), second);
      assert.deepEqual(asked, ['say wait'], `${path} ${JSON.stringify(body)}`);
      held.clear();
    }
    const at = hold('wait'), body = withOtid('say wait', 'o-async');
    const first = await post(`/agents/${agent}/messages/async`, body), second = await post(`/agents/${agent}/messages/async`, body);
    assert.equal(first.json.id, second.json.id);
    at.open();
    await finished(first.json.id);
  });
});

describe('a context that is at work', () => {
  const busy = policy => ({ 'x-busy-policy': policy });
  test('queues, refuses or interrupts, as the request says', async () => {
    const agent = await newAgent(), at = hold('hang');
    const first = post(`/agents/${agent}/messages`, said('say hang'));
    await at.arrived;
    const refused = await post(`/agents/${agent}/messages`, said('say no'), busy('reject'));
    assert.equal(refused.status, 409);
    assert.match(refused.json.detail, /^CONFLICT: Cannot send a new message: Another request \(run_id=run-/);
    assert.ok(refused.json.detail.includes(refused.json.run_id));
    const queued = post(`/agents/${agent}/messages`, said('say queued'));
    await eventually(async () => (await get(`/runs/?agent_id=${agent}&active=true`)).json.length, n => n === 2);
    const now = await post(`/agents/${agent}/messages`, said('say now'), busy('interrupt'));
    assert.equal(now.json.messages.at(-1).content, 'now');
    for (const ended of [await first, await queued]) assert.equal(ended.json.stop_reason.stop_reason, 'cancelled');
    assert.equal((await get(`/runs/${refused.json.run_id}`)).json.status, 'cancelled');
  });
});

describe('tokens of an older loop', () => {
  const older = () => newAgent({ agent_type: 'memgpt_v2_agent', include_base_tools: true, enable_reasoner: false });
  const stream = async (agent, body = {}) => (await post(`/agents/${agent}/messages/stream`, { ...said('say hello'), stream_tokens: true, ...body })).text;

  test('thoughts and what is said, under the ids of the stored message', async () => {
    const agent = await older(), text = await stream(agent);
    const chunks = eventsOf(text).slice(1, -3).map(e => JSON.parse(e));
    assert.deepEqual(typesOf(text), ['ping', 'reasoning_message', 'assistant_message', 'stop_reason', 'usage_statistics', '[DONE]']);
    assert.deepEqual([chunks[0].reasoning, chunks[0].source, chunks[1].content], ['I think so.', 'non_reasoner_model', 'say hello']);
    const { json } = await get(`/agents/${agent}/messages?limit=2`);
    for (const chunk of chunks) assert.ok(json.some(m => m.id === chunk.id && m.otid === chunk.otid && m.message_type === chunk.message_type), JSON.stringify(json));
  });

  test('the call itself where no text is wanted of it', async () => {
    const text = await stream(await older(), { use_assistant_message: false });
    assert.deepEqual(typesOf(text), ['ping', 'reasoning_message', 'tool_call_message', 'tool_call_message', 'tool_return_message', 'stop_reason', 'usage_statistics', '[DONE]']);
    const [name, args] = eventsOf(text).slice(2, 4).map(e => JSON.parse(e).tool_call);
    assert.deepEqual([name.name, name.arguments, args.name], ['send_message', undefined, undefined]);
    assert.deepEqual(JSON.parse(args.arguments), { message: 'say hello' });
  });
});
