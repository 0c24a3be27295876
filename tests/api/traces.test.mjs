// What went to the provider in a step and what came back; how many of that are kept.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { lastText, startModel } from '../lib/model.mjs';
import { call, startServer } from '../lib/server.mjs';

let scripted;
before(async () => { scripted = await startModel(async body => /fail/.test(lastText(body)) ? { status: 400 } : { text: `heard: ${lastText(body)}` }); });
after(() => scripted.stop());

// A server with an agent and its few requests.
async function start(args) {
  const server = await startServer({ args, env: scripted.env });
  const api = async (...request) => { const answer = await call(server.base, ...request); return answer.json; };
  const agent = await api('POST', '/v1/agents/', { model: scripted.handle, embedding: 'letta/letta-free', include_base_tools: false, memory_blocks: [], tags: ['traced'] });
  const send = (text, more) => call(server.base, 'POST', `/v1/agents/${agent.id}/messages`, { messages: [{ role: 'user', content: text }], ...more });
  const steps = () => api('GET', `/v1/steps/?agent_id=${agent.id}&order=asc`);
  const traces = async () => Promise.all((await steps()).map(s => api('GET', `/v1/steps/${s.id}/trace`)));
  return { server, api, agent, send, steps, traces };
}

describe('traces', () => {
  test('hold the request and the reply of every step, streamed or not', async () => {
    const { server, api, agent, send, steps, traces } = await start([]);
    try {
      await send('one');
      await send('two', { streaming: true, stream_tokens: true });
      const [whole, streamed] = await traces();
      assert.match(whole.id, /^provider_trace-/);
      assert.deepEqual([whole.agent_id, whole.call_type, whole.agent_tags], [agent.id, 'agent_step', ['traced']]);
      assert.equal(whole.llm_config.model, 'mock');
      assert.equal(whole.request_json.messages.at(-1).content, 'one');
      assert.equal(whole.response_json.choices[0].message.content, 'heard: one');
      assert.equal(whole.response_json.usage.total_tokens, 30);
      assert.equal(streamed.request_json.stream, true);
      assert.equal(streamed.response_json.choices[0].message.content, 'heard: two');
      const [first] = await steps();
      assert.deepEqual(await api('GET', `/v1/telemetry/${first.id}`), whole);
      assert.equal((await call(server.base, 'GET', '/v1/steps/step-00000000-0000-4000-8000-000000000001/trace')).text, 'null');
    } finally { await server.stop(); }
  });

  test('hold what a provider refused, and go with the agent', async () => {
    const { server, api, agent, send, steps, traces } = await start([]);
    try {
      assert.equal((await send('fail')).status, 400);
      const [failed] = await traces();
      assert.equal(failed.request_json.messages.at(-1).content, 'fail');
      assert.match(failed.response_json.error.message, /scripted failure/);
      const [step] = await steps();
      await api('DELETE', `/v1/agents/${agent.id}`);
      assert.equal(await api('GET', `/v1/steps/${step.id}/trace`), null);
    } finally { await server.stop(); }
  });

  test('are kept up to a number, the newest ones', async () => {
    const { server, send, traces } = await start(['--traces', '2']);
    try {
      for (const text of ['one', 'two', 'three', 'four']) await send(text);
      assert.deepEqual((await traces()).map(t => t?.request_json.messages.at(-1).content ?? null), [null, null, 'three', 'four']);
    } finally { await server.stop(); }
  });

  test('can be switched off', async () => {
    const { server, send, traces } = await start(['--traces', '0']);
    try {
      await send('one');
      assert.deepEqual(await traces(), [null]);
    } finally { await server.stop(); }
  });
});
