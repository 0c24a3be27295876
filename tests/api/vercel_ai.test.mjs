// The provider of Letta for the AI SDK (npm: ai), which brings a client of before 1.0: another user agent, camel case,
// trailing slashes as it likes.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createLetta, convertToAiSdkMessage } from '@letta-ai/vercel-ai-sdk-provider';
import { generateText, streamText } from 'ai';
import { obey, startModel } from '../lib/model.mjs';
import { call, startServer } from '../lib/server.mjs';

let server, model, letta, tools;

before(async () => {
  model = await startModel(async body => obey(body));
  server = await startServer({ env: model.env });
  letta = createLetta({ baseUrl: server.base, token: 'none' });
  tools = { memory_insert: letta.tool('memory_insert') }; // those of the agent are named, or the AI SDK does not know them
});
after(async () => { await server.stop(); model.stop(); });

async function newAgent(more = {}) {
  const { json } = await call(server.base, 'POST', '/v1/agents/', { model: model.handle, embedding: 'letta/letta-free', include_base_tools: false, tools: ['memory_insert'], memory_blocks: [{ label: 'notes', value: 'paper' }], ...more });
  return json;
}
const ask = (agent, prompt, more = {}) => ({ model: letta(), tools, prompt, maxRetries: 0, providerOptions: { letta: { agent: { id: agent.id, ...more } } } });
const parts = async stream => { const all = []; for await (const part of stream.fullStream) all.push(part); return all; };
const insert = 'call memory_insert {"label":"notes","new_string":"red"}';

describe('the AI SDK', () => {
  test('has a text generated', async () => {
    const { text, finishReason } = await generateText(ask(await newAgent(), 'say hello there'));
    assert.deepEqual([text, finishReason], ['hello there', 'stop']);
  });

  for (const more of [{}, { streamTokens: true }, { streamTokens: true, background: true, includePings: true }]) {
    test(`streams a text, ${JSON.stringify(more)}`, async () => {
      const agent = await newAgent();
      const all = await parts(streamText(ask(agent, 'say hello there', more)));
      assert.deepEqual(all.filter(p => p.type === 'error'), []);
      const deltas = all.filter(p => p.type === 'text-delta').map(p => p.text);
      assert.equal(deltas.join(''), 'hello there');
      assert.equal(deltas.length, more.streamTokens ? 2 : 1);
      assert.equal(all.at(-1).type, 'finish');
      const { runId, messageType } = all.find(p => p.type === 'text-start').providerMetadata.letta;
      assert.equal(messageType, 'assistant_message');
      assert.match(runId, /^run-/);
    });

    test(`streams a call of a tool and its result, ${JSON.stringify(more)}`, async () => {
      const agent = await newAgent();
      const all = await parts(streamText(ask(agent, insert, more)));
      assert.deepEqual(all.filter(p => p.type === 'error'), []);
      const [result] = all.filter(p => p.type === 'tool-result');
      assert.match(all.filter(p => p.type === 'text-delta').map(p => p.text).join(''), /^done: /);
      const { json } = await call(server.base, 'GET', `/v1/agents/${agent.id}/core-memory/blocks/notes`);
      assert.equal(json.value, 'paper\nred');
      assert.deepEqual([result.toolName, result.output ?? result.result], ['memory_insert', 'paper\nred']);
      const called = all.find(p => p.type === 'tool-call');
      assert.equal(called.toolName, 'memory_insert');
    });
  }

  test('hears of an agent that nobody knows', async () => {
    const nobody = { id: 'agent-00000000-0000-4000-8000-000000000000' };
    await assert.rejects(generateText(ask(nobody, 'hello')), error => error.statusCode === 404);
    const all = await parts(streamText({ ...ask(nobody, 'hello'), onError: () => {} }));
    assert.equal(all.find(p => p.type === 'error').error.statusCode, 404);
  });

  test('reads the conversation back through its own client', async () => {
    const agent = await newAgent();
    await generateText(ask(agent, 'say one'));
    const messages = convertToAiSdkMessage(await letta.client.agents.messages.list(agent.id));
    assert.deepEqual(messages.slice(1).map(m => [m.role, m.parts[0].text]), [['user', 'say one'], ['assistant', 'one']]);
    const read = await letta.client.agents.retrieve(agent.id);
    assert.deepEqual(read.tools.map(t => t.name), ['memory_insert'], 'the older clients get what belongs to an agent unasked');
  });
});
