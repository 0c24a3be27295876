// Conversations with the TypeScript SDK: contexts of one agent that share what the agent is and nothing else.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Letta from '@letta-ai/letta-client';
import { gate, lastText, obey, startModel, textOf } from '../lib/model.mjs';
import { startServer } from '../lib/server.mjs';
import { summary } from '../lib/turns.mjs';

let server, model, client, requests, held;

before(async () => {
  requests = [];
  model = await startModel(async body => { requests.push(body); if (/^think/.test(lastText(body))) await held.pass(); return obey(body); });
  server = await startServer({ env: model.env });
  client = new Letta({ baseURL: server.base, maxRetries: 0 });
});
after(async () => { await server.stop(); model.stop(); });

const newAgent = () => client.agents.create({ model: model.handle, embedding: 'letta/letta-free', include_base_tools: false, tools: ['memory_insert'], memory_blocks: [{ label: 'notes', value: 'paper' }] });
const conversationOf = (agent, more = {}) => client.conversations.create({ agent_id: agent.id, ...more });
const user = content => ({ messages: [{ role: 'user', content }] });
const collect = async stream => { const all = []; for await (const event of stream) all.push(event); return all; };
const send = async (conversation, text, more = {}) => summary(await collect(await client.conversations.messages.create(conversation.id, { ...user(text), ...more })));
const listed = async conversation => (await client.conversations.messages.list(conversation.id, { order: 'asc', limit: 200 })).items.filter(m => m.message_type !== 'system_message').map(m => m.content ?? m.message_type);
const shown = () => requests.at(-1).messages.slice(1).map(textOf);

describe('a conversation', () => {
  test('knows its own messages alone', async () => {
    const agent = await newAgent(), a = await conversationOf(agent), b = await conversationOf(agent);
    await send(a, 'say one');
    await send(b, 'say two');
    assert.deepEqual(shown(), ['say two']);
    await send(a, 'say three');
    assert.deepEqual(shown(), ['say one', 'one', 'say three']);
    assert.deepEqual([await listed(a), await listed(b)], [['say one', 'one', 'say three', 'three'], ['say two', 'two']]);
    assert.equal((await client.conversations.retrieve(a.id)).in_context_message_ids.length, 5, 'with its system message');
    assert.equal((await client.agents.retrieve(agent.id)).message_ids.length, 1, "the agent's own thread is untouched");
  });

  test('that is forked goes on from there, in both', async () => {
    const agent = await newAgent(), a = await conversationOf(agent);
    await send(a, 'say one');
    const fork = await client.conversations.fork(a.id);
    assert.notEqual(fork.id, a.id);
    assert.equal(fork.agent_id, agent.id);
    await send(a, 'say here');
    await send(fork, 'say there');
    assert.deepEqual(shown(), ['say one', 'one', 'say there']);
    assert.deepEqual([await listed(a), await listed(fork)], [['say one', 'one', 'say here', 'here'], ['say one', 'one', 'say there', 'there']]);
    await client.conversations.delete(a.id);
    assert.deepEqual(await listed(fork), ['say one', 'one', 'say there', 'there'], 'what is shared stays');
  });

  test('with a block of its own changes no other', async () => {
    const agent = await newAgent(), own = await conversationOf(agent, { isolated_block_labels: ['notes'] }), plain = await conversationOf(agent);
    assert.equal(own.isolated_block_ids.length, 1);
    await send(own, 'call memory_insert {"label":"notes","new_string":"red"}');
    assert.equal((await client.agents.blocks.retrieve('notes', { agent_id: agent.id })).value, 'paper');
    assert.equal((await client.blocks.retrieve(own.isolated_block_ids[0])).value, 'paper\nred');
    await send(plain, 'call memory_insert {"label":"notes","new_string":"blue"}');
    assert.equal((await client.agents.blocks.retrieve('notes', { agent_id: agent.id })).value, 'paper\nblue');
    await assert.rejects(conversationOf(agent, { isolated_block_labels: ['nothing'] }), Letta.BadRequestError);
    await client.conversations.delete(own.id);
    await assert.rejects(client.blocks.retrieve(own.isolated_block_ids[0]), Letta.NotFoundError);
  });

  test('has a model of its own, and a request may have another', async () => {
    const agent = await newAgent(), own = await conversationOf(agent, { model: 'rehearsal/default' });
    assert.equal((await send(own, 'call nobody')).said, 'You said: call nobody');
    const before = requests.length;
    assert.equal((await send(own, 'say it', { override_model: model.handle })).said, 'it');
    assert.equal(requests.length, before + 1);
    const changed = await client.conversations.update(own.id, { model: model.handle, summary: 'about it' });
    assert.deepEqual([changed.model, changed.summary], [model.handle, 'about it']);
    assert.equal((await send(own, 'say that')).said, 'that');
    assert.equal(requests.length, before + 2);
  });

  test('is compacted on demand: the summary stands for what was', async () => {
    const agent = await newAgent(), a = await conversationOf(agent), b = await conversationOf(agent);
    for (const word of ['one', 'two', 'three']) await send(a, `say ${word}`);
    await send(b, 'say beside');
    const done = await client.conversations.messages.compact(a.id, { compaction_settings: { mode: 'all' } });
    assert.deepEqual([done.num_messages_before, done.num_messages_after], [7, 2]);
    assert.ok(done.summary.length > 0);
    assert.equal((await client.conversations.retrieve(a.id)).in_context_message_ids.length, 2);
    await send(a, 'say four');
    assert.equal(shown().length, 2);
    assert.ok(shown()[0].includes(JSON.stringify(done.summary).slice(1, 40)), 'the model is shown the summary');
    assert.ok((await listed(a)).includes('say one'), 'nothing is lost');
    await send(b, 'say on');
    assert.deepEqual(shown(), ['say beside', 'beside', 'say on']);
  });

  test('has a prompt that is made anew on demand', async () => {
    const agent = await newAgent(), a = await conversationOf(agent);
    await send(a, 'say one');
    await client.agents.blocks.update('notes', { agent_id: agent.id, value: 'papyrus' });
    await send(a, 'say two');
    assert.doesNotMatch(textOf(requests.at(-1).messages[0]), /papyrus/, 'a conversation has a prompt of its own');
    assert.match(await client.conversations.recompile(a.id, { dry_run: true }), /papyrus/);
    await send(a, 'say three');
    assert.doesNotMatch(textOf(requests.at(-1).messages[0]), /papyrus/);
    await client.conversations.recompile(a.id);
    await send(a, 'say four');
    assert.match(textOf(requests.at(-1).messages[0]), /papyrus/);
  });

  test('is listed, and gone when it is deleted', async () => {
    const agent = await newAgent(), a = await conversationOf(agent, { summary: 'red apples' }), b = await conversationOf(agent, { summary: 'green pears' });
    assert.deepEqual((await client.conversations.list({ agent_id: agent.id })).map(c => c.id), [b.id, a.id]);
    assert.deepEqual((await client.conversations.list({ agent_id: agent.id, summary_search: 'apples' })).map(c => c.id), [a.id]);
    await client.conversations.delete(a.id);
    await assert.rejects(client.conversations.retrieve(a.id), Letta.NotFoundError);
    await assert.rejects(send(a, 'hello'), Letta.NotFoundError);
    assert.deepEqual((await client.conversations.list({ agent_id: agent.id })).map(c => c.id), [b.id]);
  });
});

describe('a stream in the background', () => {
  const seq = frames => frames.map(f => f.seq_id).filter(n => n != null);

  test('is read again from any frame, by its run, its otid or its conversation', async () => {
    const agent = await newAgent(), a = await conversationOf(agent);
    const otid = '3f0d3f5e-6f0e-4d5b-9a69-0d7f5a2a1c11';
    const first = await collect(await client.conversations.messages.create(a.id, { messages: [{ role: 'user', content: 'say one two three', otid }], background: true, stream_tokens: true }));
    const run = first[0].run_id;
    assert.deepEqual(seq(first), [1, 2, 3, 4]);
    for (let after = 0; after <= first.length + 2; after++) {
      const rest = await collect(await client.runs.messages.stream(run, { starting_after: after }));
      assert.deepEqual(rest, first.slice(after), `after ${after}`);
    }
    for (const more of [{ run_id: run }, { otid }]) assert.deepEqual(await collect(await client.post(`/v1/conversations/${a.id}/stream`, { body: { ...more, starting_after: 2 }, stream: true })), first.slice(2));
    await assert.rejects(client.conversations.messages.stream(a.id, {}), error => error.status === 400 && /No active runs found/.test(error.message));
  });

  test('is followed by many while it works', async () => {
    held = gate();
    const agent = await newAgent(), a = await conversationOf(agent);
    // The run is there when its stream begins; its model may have been asked before.
    const first = await client.conversations.messages.create(a.id, { ...user('think'), background: true });
    await held.arrived;
    const readers = Array.from({ length: 5 }, async () => collect(await client.conversations.messages.stream(a.id, {})));
    const left = await client.conversations.messages.stream(a.id, {}); // one leaves early
    for await (const frame of left) { assert.equal(frame.message_type, 'ping'); break; }
    held.open();
    const all = await collect(first);
    for (const reader of readers) assert.deepEqual(await reader, all);
    assert.equal(summary(all).said, 'think');
  });
});
