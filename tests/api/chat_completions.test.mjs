// The route that OpenAI's clients speak: what they read in its answers, streaming and not.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { lastText, startModel } from '../lib/model.mjs';
import { call, startServer } from '../lib/server.mjs';

let server, scripted, agent;
before(async () => {
  scripted = await startModel(async body => {
    if (/\bfail (\d+)/.test(lastText(body))) return { status: +RegExp.$1 };
    if (/\blook\b/.test(lastText(body))) return { text: 'Let me look.', calls: [{ name: 'conversation_search', args: { query: 'x' } }] };
    return { text: `heard: ${lastText(body)}`.slice(0, 60) };
  });
  server = await startServer({ env: scripted.env });
  const made = await call(server.base, 'POST', '/v1/agents/', { model: scripted.handle, embedding: 'letta/letta-free', tools: ['conversation_search'], include_base_tools: false, memory_blocks: [] });
  assert.equal(made.status, 200, made.text);
  agent = made.json;
});
after(async () => { await server.stop(); scripted.stop(); });

const complete = (messages, more = {}) => call(server.base, 'POST', '/v1/chat/completions', { model: agent.id, messages, ...more });
const user = content => [{ role: 'user', content }];
// The data of a stream's events; the last one has to be [DONE].
function chunksOf(answer) {
  assert.equal(answer.status, 200, answer.text);
  const data = answer.text.split('\n\n').filter(Boolean).map(event => event.replace(/^data: /, ''));
  assert.equal(data.pop(), '[DONE]');
  return data.map(d => JSON.parse(d));
}
const said = chunks => chunks.map(c => c.choices[0]?.delta.content ?? '').join('');

describe('chat completions', () => {
  test('answer as a whole', async () => {
    const { status, json } = await complete([{ role: 'system', content: 'ignored' }, ...user('hello')]);
    assert.equal(status, 200);
    assert.match(json.id, /^chatcmpl-run-/);
    assert.deepEqual([json.object, json.model], ['chat.completion', 'mock']);
    const [choice] = json.choices;
    assert.deepEqual([choice.index, choice.finish_reason, choice.message.role, choice.message.content], [0, 'stop', 'assistant', 'heard: hello']);
    assert.equal(json.usage.total_tokens, json.usage.prompt_tokens + json.usage.completion_tokens);
  });

  test('answer as a stream, with the tokens at its end where they are asked for', async () => {
    const chunks = chunksOf(await complete(user('hello there'), { stream: true, stream_options: { include_usage: true } }));
    assert.equal(said(chunks), 'heard: hello there');
    assert.equal(new Set(chunks.map(c => c.id)).size, 1);
    assert.equal(chunks[0].choices[0].delta.role, 'assistant');
    assert.ok(chunks.slice(1, -1).every(c => c.choices[0].delta.role === null));
    assert.equal(chunks.at(-2).choices[0].finish_reason, 'stop');
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.ok(chunks.at(-1).usage.total_tokens > 0);
    const plain = chunksOf(await complete(user('again'), { stream: true }));
    assert.ok(plain.every(c => c.usage === null));
  });

  test('show what is said before and after a tool as two paragraphs, and not the tool', async () => {
    const whole = (await complete(user('look at this'))).json.choices[0].message.content;
    assert.match(whole, /^Let me look\.\n\nheard: /);
    assert.match(said(chunksOf(await complete(user('look at that'), { stream: true }))), /^Let me look\.\n\nheard: /);
  });

  test('are kept as turns of the agent', async () => {
    const runs = await call(server.base, 'GET', `/v1/runs/?agent_id=${agent.id}&limit=1`);
    assert.equal(runs.json[0].metadata.run_type, 'openai_chat_completions');
    assert.equal(runs.json[0].status, 'completed');
  });

  test('say when the provider fails', async () => {
    const whole = await complete(user('fail 400'));
    assert.equal(whole.status, 400);
    assert.ok(whole.json.error.message);
    const stream = await complete(user('fail 400'), { stream: true });
    assert.equal(stream.status, 200);
    const events = stream.text.split('\n\n').filter(Boolean).map(e => e.replace(/^data: /, ''));
    assert.ok(JSON.parse(events[0]).error.message);
  });

  test('take pictures', async () => {
    const pixel = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const { status, json } = await complete(user([{ type: 'text', text: 'see' }, { type: 'image_url', image_url: { url: pixel } }]));
    assert.equal(status, 200, JSON.stringify(json));
    const listed = await call(server.base, 'GET', `/v1/agents/${agent.id}/messages?limit=2`);
    assert.deepEqual(listed.json[0].content.map(part => part.type), ['text', 'image']);
  });

  test('refuse what cannot be meant', async () => {
    for (const [body, status] of [[{ messages: user('x') }, 422], [{ model: agent.id }, 422], [{ model: agent.id, messages: [] }, 400], [{ model: 'gpt-4o', messages: user('x') }, 400],
      [{ model: agent.id, messages: user('x'), temperature: 3 }, 422], [{ model: agent.id, messages: [{ role: 'nobody', content: 'x' }] }, 422], [{ model: 'agent-00000000-0000-4000-8000-000000000001', messages: user('x') }, 404]])
      assert.equal((await call(server.base, 'POST', '/v1/chat/completions', body)).status, status, JSON.stringify(body));
  });
});
