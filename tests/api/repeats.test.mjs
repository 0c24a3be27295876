// The same request twice, told by the otids of its messages: while the first is under way the second gets its run, on
// every endpoint and in every mode.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, test } from 'node:test';
import Letta from '@letta-ai/letta-client';
import { gate, lastText, obey, startModel } from '../lib/model.mjs';
import { eventually, startServer } from '../lib/server.mjs';
import { summary, ways } from '../lib/turns.mjs';

let server, model, client, slow, asked; // the model waits for `slow`

before(async () => {
  model = await startModel(async body => { asked.push(lastText(body)); await slow.pass(); return obey(body); });
  server = await startServer({ env: model.env });
  client = new Letta({ baseURL: server.base, maxRetries: 0 });
});
after(async () => { await server.stop(); model.stop(); });
beforeEach(() => { slow = gate(); asked = []; });

const newAgent = () => client.agents.create({ model: model.handle, embedding: 'letta/letta-free', include_base_tools: false, memory_blocks: [] });
const user = (content, otid = randomUUID()) => ({ messages: [{ role: 'user', content, otid }] });
const runsOf = async agent => (await client.runs.list({ agent_id: agent.id })).items;
const listed = async agent => (await client.agents.messages.list(agent.id, { order: 'asc' })).items.slice(1).map(m => m.content);
const ended = id => eventually(() => client.runs.retrieve(id), r => r.completed_at);
const events = async stream => { const all = []; for await (const e of stream) all.push(e); return summary(all); };

// Ways through a conversation; the default thread is one as well.
const inConversation = options => async (agent, conversation, body) => {
  const id = conversation ?? 'default';
  const whole = { ...body, ...options, ...(conversation ? {} : { agent_id: agent.id }) };
  if (options.streaming !== false) return events(await client.conversations.messages.create(id, whole));
  const { messages, stop_reason } = await client.post(`/v1/conversations/${id}/messages`, { body: whole });
  return summary(messages, stop_reason.stop_reason);
};
const everyWay = {
  ...Object.fromEntries(Object.entries(ways).map(([name, go]) => [`to an agent, ${name}`, (agent, _, body) => go(client, agent.id, body)])),
  'to an agent, asynchronous': async (agent, _, body) => { const run = await client.agents.messages.createAsync(agent.id, body); const { stop_reason } = await ended(run.id); return { run: run.id, stop: stop_reason, said: (await client.runs.messages.list(run.id)).items.at(-1).content }; },
  ...Object.fromEntries(Object.entries({ blocking: { streaming: false }, steps: {}, tokens: { stream_tokens: true }, background: { background: true } }).flatMap(([name, options]) => [
    [`to a conversation, ${name}`, inConversation(options)],
    [`to the default conversation, ${name}`, (agent, _, body) => inConversation(options)(agent, undefined, body)],
  ])),
};

for (const [name, go] of Object.entries(everyWay)) {
  test(`a repeat while the first works, ${name}`, async () => {
    const agent = await newAgent();
    const conversation = await client.conversations.create({ agent_id: agent.id });
    const body = user('say it');
    const first = go(agent, conversation.id, body);
    await slow.arrived;
    const second = go(agent, conversation.id, body);
    // Another request is a turn of its own. It was sent later, so when it is answered the repeat is with the server.
    const third = await client.agents.messages.createAsync(agent.id, user('say other'));
    slow.open();
    const [a, b] = await Promise.all([first, second]);
    assert.deepEqual([a.said, a.stop], ['it', 'end_turn']);
    assert.deepEqual([b.said, b.stop, b.run], ['it', 'end_turn', a.run]);
    await ended(third.id);
    assert.deepEqual(asked.toSorted(), ['say it', 'say other']);
    assert.equal((await runsOf(agent)).length, 2);
  });
}

describe('a repeat', () => {
  beforeEach(() => slow.open());

  test('with other otids is another turn', async () => {
    const agent = await newAgent();
    await Promise.all([1, 2].map(() => ways.blocking(client, agent.id, user('say it'))));
    assert.deepEqual(await listed(agent), ['say it', 'it', 'say it', 'it']);
  });

  test('after the end of a background run of a conversation is answered with its frames', async () => {
    const agent = await newAgent();
    const conversation = await client.conversations.create({ agent_id: agent.id });
    const body = user('say it');
    const first = await everyWay['to a conversation, background'](agent, conversation.id, body);
    const second = await everyWay['to a conversation, background'](agent, conversation.id, body);
    assert.deepEqual(second, first);
    assert.deepEqual(asked, ['say it']);
  });
});
