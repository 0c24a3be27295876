// The human in the loop: calls of tools that wait for a yes or a no, and tools that the client runs itself.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Letta from '@letta-ai/letta-client';
import { obey, startModel, textOf } from '../lib/model.mjs';
import { startServer } from '../lib/server.mjs';
import { ways } from '../lib/turns.mjs';

let server, model, client, shown, failing = false; // shown: the last request that the model had

before(async () => {
  model = await startModel(async body => { shown = body; return failing ? { status: 400 } : obey(body); });
  server = await startServer({ env: model.env });
  client = new Letta({ baseURL: server.base, maxRetries: 0 });
});
after(async () => { await server.stop(); model.stop(); });

const tools = ['core_memory_append', 'memory_insert'];
const gated = { tool_rules: tools.map(tool_name => ({ type: 'requires_approval', tool_name })) };
const newAgent = (more = {}) => client.agents.create({ model: model.handle, embedding: 'letta/letta-free', include_base_tools: false, tools, memory_blocks: [{ label: 'notes', value: 'paper' }, { label: 'tasks', value: 'wood' }],
  model_settings: { provider_type: 'openai', parallel_tool_calls: true }, ...more });
const user = content => ({ messages: [{ role: 'user', content }] });
const answer = (...approvals) => ({ messages: [{ type: 'approval', approvals }] });
const yes = call => ({ type: 'approval', tool_call_id: call.tool_call_id, approve: true });
const no = (call, reason) => ({ type: 'approval', tool_call_id: call.tool_call_id, approve: false, reason });
const both = (a, b) => user(`calls core_memory_append {"label":"notes","content":"${a}"} ;; memory_insert {"label":"tasks","new_string":"${b}"}`);
const block = async (agent, label) => (await client.agents.blocks.retrieve(label, { agent_id: agent.id })).value;
const pending = async agent => (await client.agents.retrieve(agent.id, { include: ['agent.pending_approval'] })).pending_approval;
const listed = async agent => (await client.agents.messages.list(agent.id, { order: 'asc', limit: 100 })).items;
const returnsOf = async agent => (await listed(agent)).filter(m => m.message_type === 'tool_return_message').at(-1).tool_returns;
const shownResults = () => shown.messages.filter(m => m.role === 'tool').map(m => JSON.parse(textOf(m)).message);
const refused = (status, text) => error => { assert.equal(error.status, status); assert.match(JSON.stringify(error.error), text); return true; };

for (const [way, send] of Object.entries(ways)) {
  describe(`approvals, ${way}`, () => {
    test('calls of one reply are asked for together, one is done and the other denied with its reason', async () => {
      const agent = await newAgent(gated);
      const { asked, stop } = await send(client, agent.id, both('red', 'blue'));
      assert.equal(stop, 'requires_approval');
      assert.deepEqual(asked.map(c => [c.name, JSON.parse(c.arguments)]), [['core_memory_append', { label: 'notes', content: 'red' }], ['memory_insert', { label: 'tasks', new_string: 'blue' }]]);
      assert.deepEqual([await block(agent, 'notes'), await block(agent, 'tasks')], ['paper', 'wood'], 'nothing is done yet');
      const request = await pending(agent);
      assert.equal(request.message_type, 'approval_request_message');
      assert.deepEqual(request.tool_calls, asked);

      const then = await send(client, agent.id, answer(yes(asked[0]), no(asked[1], 'no paint')));
      assert.equal(then.stop, 'end_turn');
      assert.match(then.said, /^done: /);
      assert.deepEqual([await block(agent, 'notes'), await block(agent, 'tasks')], ['paper\nred', 'wood']);
      const returns = await returnsOf(agent);
      assert.deepEqual(returns.map(r => [r.tool_call_id, r.status]), [[asked[1].tool_call_id, 'error'], [asked[0].tool_call_id, 'success']]);
      assert.match(returns[0].tool_return, /denied.*no paint/);
      assert.ok(shownResults().some(text => /no paint/.test(text)), 'the model knows why');
      assert.equal(await pending(agent), null);
      assert.deepEqual((await listed(agent)).map(m => m.message_type), ['system_message', 'user_message', 'approval_request_message', 'approval_response_message', 'tool_return_message', 'assistant_message']);
    });

    test('an answer that says everything twice is done once', async () => {
      const agent = await newAgent(gated);
      const { asked } = await send(client, agent.id, both('red', 'blue'));
      await send(client, agent.id, answer(...asked.map(yes)));
      const again = await send(client, agent.id, answer(...asked.map(yes)));
      assert.equal(again.stop, 'end_turn');
      assert.match(again.said, /keep-alive/);
      assert.deepEqual([await block(agent, 'notes'), await block(agent, 'tasks')], ['paper\nred', 'wood\nblue']);
    });

    test('a refusal of everything lets the agent go on', async () => {
      const agent = await newAgent(gated);
      const { asked } = await send(client, agent.id, both('red', 'blue'));
      const then = await send(client, agent.id, { messages: [...answer(no(asked[0]), no(asked[1], 'later')).messages, ...user('say otherwise').messages] });
      assert.equal(then.stop, 'end_turn');
      assert.match(then.said, /otherwise/);
      assert.deepEqual([await block(agent, 'notes'), await block(agent, 'tasks')], ['paper', 'wood']);
      assert.ok(shownResults().every(text => /denied/.test(text)));
    });

    test('a call that needs no approval waits with its sibling', async () => {
      const agent = await newAgent({ tool_rules: gated.tool_rules.slice(1) });
      const { asked, called } = await send(client, agent.id, both('red', 'blue'));
      assert.deepEqual([called.map(c => c.name), asked.map(c => c.name)], [['core_memory_append'], ['memory_insert']]);
      assert.equal(await block(agent, 'notes'), 'paper');
      await send(client, agent.id, answer(no(asked[0])));
      assert.deepEqual([await block(agent, 'notes'), await block(agent, 'tasks')], ['paper\nred', 'wood']);
    });

    test('a tool of the client makes its round', async () => {
      const agent = await newAgent();
      const client_tools = [{ name: 'look', description: 'Looks around.', parameters: { type: 'object', properties: { where: { type: 'string' } }, required: ['where'] } }, { name: 'memory_insert', description: 'of the client' }];
      const turn = await send(client, agent.id, { ...user('calls look {"where":"up"} ;; memory_insert {}'), client_tools });
      assert.equal(turn.stop, 'requires_approval');
      assert.deepEqual(turn.asked.map(c => c.name), ['look', 'memory_insert']);
      const offered = shown.tools.map(t => t.function);
      assert.deepEqual(offered.find(t => t.name === 'look').parameters.required, ['where']);
      assert.deepEqual(offered.filter(t => t.name === 'memory_insert').map(t => t.description), ['of the client'], "the server's own is hidden");
      const back = (call, tool_return, status) => ({ type: 'tool', tool_call_id: call.tool_call_id, tool_return, status });
      const tool_returns = [back(turn.asked[0], 'clouds', 'success'), back(turn.asked[1], 'no pen', 'error')];
      const then = await send(client, agent.id, { messages: [{ type: 'tool_return', tool_returns }], client_tools });
      assert.equal(then.stop, 'end_turn');
      assert.deepEqual(shownResults(), ['clouds', 'no pen']);
      assert.deepEqual((await returnsOf(agent)).map(r => [r.tool_return, r.status]), [['clouds', 'success'], ['no pen', 'error']]);

      const second = await send(client, agent.id, { ...user('call look {"where":"down"}'), client_tools });
      await send(client, agent.id, { ...answer(back(second.asked[0], 'grass', 'success')), client_tools });
      assert.equal(shownResults().at(-1), 'grass', 'as an approval too');
      const own = await send(client, agent.id, user('call memory_insert {"label":"tasks","new_string":"iron"}'));
      assert.equal(own.stop, 'end_turn');
      assert.equal(await block(agent, 'tasks'), 'wood\niron', 'the server runs its own again');
    });
  });
}

describe('a call that waits', () => {
  const waiting = async () => { const agent = await newAgent(gated); return { agent, ...await ways.blocking(client, agent.id, both('red', 'blue')) }; };

  test('is not answered in part, nor with too much, and goes on waiting', async () => {
    const { agent, asked } = await waiting();
    const more = { tool_call_id: 'call_more' };
    for (const wrong of [[yes(asked[0])], [...asked.map(yes), yes(more)], [yes(more)]])
      await assert.rejects(ways.blocking(client, agent.id, answer(...wrong)), refused(400, /Invalid tool call IDs/));
    for (const way of ['steps', 'tokens', 'background'])
      await assert.rejects(ways[way](client, agent.id, answer(yes(asked[0]))), error => /Invalid tool call IDs/.test(error.error?.detail ?? error.message), way);
    await assert.rejects(ways.blocking(client, agent.id, answer()), refused(400, /./));
    assert.deepEqual((await pending(agent)).tool_calls, asked);
    assert.equal((await ways.blocking(client, agent.id, answer(...asked.map(yes)))).stop, 'end_turn');
  });

  test('refuses a message before its answer', async () => {
    const { agent, asked } = await waiting();
    const request = await pending(agent);
    await assert.rejects(ways.blocking(client, agent.id, user('hello?')), error => {
      assert.equal(error.status, 409);
      assert.equal(error.error.detail.code, 'PENDING_APPROVAL');
      assert.equal(error.error.detail.pending_request_id, request.id);
      return /waiting for approval/.test(error.error.detail.message);
    });
    await assert.rejects(ways.steps(client, agent.id, user('hello?')), error => /waiting for approval/.test(error.error?.detail ?? error.message));
    assert.equal((await ways.blocking(client, agent.id, answer(...asked.map(yes)))).stop, 'end_turn');
  });

  test('is the last message, or no answer is taken', async () => {
    const agent = await newAgent(gated);
    await assert.rejects(ways.blocking(client, agent.id, answer(yes({ tool_call_id: 'call_1' }))), refused(400, /No tool call is currently awaiting approval/));
  });

  for (const [name, idOf] of [['message', request => request.id], ['call', request => request.tool_calls[0].tool_call_id]]) {
    test(`takes the older form of an answer, by the id of the ${name}`, async () => {
      const agent = await newAgent(gated);
      const ask = async () => {
        await ways.blocking(client, agent.id, user('call core_memory_append {"label":"notes","content":"red"}'));
        return idOf(await pending(agent));
      };
      const older = async (approve, reason) => ways.blocking(client, agent.id, { messages: [{ type: 'approval', approve, approval_request_id: await ask(), reason }] });
      const denied = await older(false, 'no paint');
      assert.deepEqual([denied.stop, denied.returned.map(r => r.status)], ['end_turn', ['error']]);
      assert.match(denied.returned[0].tool_return, /no paint/);
      const allowed = await older(true);
      assert.deepEqual([allowed.stop, allowed.returned.map(r => r.tool_return)], ['end_turn', ['paper\nred']]);
    });
  }

  test('has been answered where the model fails afterwards', async () => {
    const { agent, asked } = await waiting();
    failing = true;
    await assert.rejects(ways.blocking(client, agent.id, answer(...asked.map(yes))));
    failing = false;
    assert.equal(await pending(agent), null);
    assert.deepEqual([await block(agent, 'notes'), await block(agent, 'tasks')], ['paper\nred', 'wood\nblue']);
    assert.equal((await ways.blocking(client, agent.id, user('say on'))).said, 'on');
    assert.equal(await block(agent, 'notes'), 'paper\nred', 'once');
  });

  test('is cancelled with its run: denied, and the agent goes on', async () => {
    const { agent, asked, run } = await waiting();
    assert.deepEqual(await client.agents.messages.cancel(agent.id, { run_ids: [run] }), { [run]: 'cancelled' });
    assert.equal(await pending(agent), null);
    assert.equal((await client.runs.retrieve(run)).status, 'cancelled');
    assert.deepEqual((await returnsOf(agent)).map(r => [r.tool_call_id, r.status]), asked.map(c => [c.tool_call_id, 'error']));
    assert.deepEqual([await block(agent, 'notes'), await block(agent, 'tasks')], ['paper', 'wood']);
    assert.deepEqual(await client.agents.messages.cancel(agent.id, { run_ids: [run] }), { [run]: 'cancelled' }, 'again');

    const late = await ways.blocking(client, agent.id, answer(...asked.map(yes)));
    assert.match(late.said, /keep-alive/, 'an answer that comes late is taken for a second one');
    assert.equal(await block(agent, 'notes'), 'paper');
    assert.equal((await ways.blocking(client, agent.id, user('say on'))).said, 'on');
  });

  test('holds up its own conversation alone, and is cancelled there', async () => {
    const agent = await newAgent(gated);
    const conversation = await client.conversations.create({ agent_id: agent.id });
    const send = body => client.conversations.messages.create(conversation.id, { ...body, streaming: false });
    // The SDK takes every answer of this operation for a stream.
    const first = await (await client.post(`/v1/conversations/${conversation.id}/messages`, { body: { ...both('red', 'blue'), streaming: false } }));
    const asked = first.messages[0].tool_calls;
    await assert.rejects(send(user('hello?')), refused(409, /waiting for approval/));
    assert.equal((await ways.blocking(client, agent.id, user('say beside'))).said, 'beside');
    const run = first.messages[0].run_id;
    assert.deepEqual(await client.agents.messages.cancel(agent.id, { run_ids: [run] }), { [run]: 'cancelled' });
    const messages = (await client.conversations.messages.list(conversation.id, { order: 'asc' })).items;
    assert.deepEqual(messages.find(m => m.message_type === 'tool_return_message').tool_returns.map(r => r.tool_call_id), asked.map(c => c.tool_call_id));
    const then = await client.post(`/v1/conversations/${conversation.id}/messages`, { body: { ...user('say on'), streaming: false } });
    assert.equal(then.messages.at(-1).content, 'on');
  });

  test('outlives a restart', async () => {
    const own = await startServer({ env: model.env });
    const there = base => new Letta({ baseURL: base, maxRetries: 0 });
    const agent = await there(own.base).agents.create({ model: model.handle, include_base_tools: false, tools, ...gated, memory_blocks: [{ label: 'notes', value: 'paper' }] });
    const { asked } = await ways.blocking(there(own.base), agent.id, user('call core_memory_append {"label":"notes","content":"red"}'));
    await own.kill();
    const again = await startServer({ env: model.env, data: own.data });
    try {
      const turn = await ways.blocking(there(again.base), agent.id, answer(yes(asked[0])));
      assert.deepEqual([turn.stop, turn.returned.map(r => r.tool_return)], ['end_turn', ['paper\nred']]);
    } finally { await again.stop(); }
  });
});

describe('which tools need approval', () => {
  const write = word => user(`call core_memory_append {"label":"notes","content":"${word}"}`);
  const stopOf = async (agent, word) => (await ways.blocking(client, agent.id, write(word))).stop;
  const settle = async agent => ways.blocking(client, agent.id, answer(...(await pending(agent)).tool_calls.map(c => no(c))));

  test('is set and taken back for one tool of one agent', async () => {
    const agent = await newAgent();
    const set = requires_approval => client.agents.tools.updateApproval('core_memory_append', { agent_id: agent.id, body_requires_approval: requires_approval });
    assert.equal(await stopOf(agent, 'one'), 'end_turn');
    await set(true);
    await set(true);
    const rules = (await client.agents.retrieve(agent.id)).tool_rules.filter(r => r.type === 'requires_approval');
    assert.deepEqual(rules.map(r => r.tool_name), ['core_memory_append'], 'once');
    assert.equal(await stopOf(agent, 'two'), 'requires_approval');
    assert.equal(await stopOf(await newAgent(), 'two'), 'end_turn', 'another agent has rules of its own');
    await settle(agent);
    await set(false);
    assert.equal(await stopOf(agent, 'three'), 'end_turn');
    assert.equal(await block(agent, 'notes'), 'paper\none\nthree');
  });

  test('is told with the rules of the agent', async () => {
    const agent = await newAgent(gated);
    assert.equal(await stopOf(agent, 'one'), 'requires_approval');
    await settle(agent);
    await client.agents.update(agent.id, { tool_rules: [] });
    assert.equal(await stopOf(agent, 'two'), 'end_turn');
  });
});
