// The older kinds of agents: every step calls one tool, what is said goes through send_message, and a heartbeat asks for
// another step.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import Letta from '@letta-ai/letta-client';
import { startModel, textOf } from '../lib/model.mjs';
import { startServer } from '../lib/server.mjs';
import { ways } from '../lib/turns.mjs';

let server, model, client, script, requests; // script: the calls of the next steps, the last one for ever

before(async () => {
  model = await startModel(async body => {
    requests.push(body);
    const next = script.length > 1 ? script.shift() : script[0];
    return typeof next === 'string' ? { text: next } : { calls: [next] };
  });
  server = await startServer({ env: model.env });
  client = new Letta({ baseURL: server.base, maxRetries: 0 });
});
after(async () => { await server.stop(); model.stop(); });

const kinds = { memgpt_agent: {}, memgpt_v2_agent: {}, react_agent: { tools: ['send_message', 'core_memory_append'] }, workflow_agent: { tools: ['send_message', 'core_memory_append'] }, split_thread_agent: { system: 'You are one of two.' } };
const newAgent = (agent_type, more = {}) => client.agents.create({ agent_type, model: model.handle, embedding: 'letta/letta-free', memory_blocks: [{ label: 'human', value: 'paper' }, { label: 'persona', value: 'a test' }], ...kinds[agent_type], ...more });
const user = content => ({ messages: [{ role: 'user', content }] });
const say = (message, heartbeat) => ({ name: 'send_message', args: { thinking: 'I am asked', message, ...(heartbeat === undefined ? {} : { request_heartbeat: heartbeat }) } });
const append = (content, request_heartbeat) => ({ name: 'core_memory_append', args: { thinking: 'I keep it', label: 'human', content, request_heartbeat } });
const block = async agent => (await client.agents.blocks.retrieve('human', { agent_id: agent.id })).value;
const types = messages => messages.map(m => m.message_type);
const send = (agent, text, steps, more = {}) => { script = [...steps]; requests = []; return client.agents.messages.create(agent.id, { ...user(text), ...more }); };

for (const kind of Object.keys(kinds)) {
  describe(kind, () => {
    test('says what it says through send_message', async () => {
      const agent = await newAgent(kind);
      assert.equal(agent.agent_type, kind);
      for (const [way, go] of Object.entries(ways)) {
        script = [say(`hello ${way}`)];
        requests = [];
        const turn = await go(client, agent.id, user('hi'));
        assert.deepEqual([turn.said, turn.stop, turn.called, turn.returned], [`hello ${way}`, 'end_turn', [], []], way);
        const { tools, tool_choice } = requests[0];
        assert.ok(tool_choice === 'required' || tool_choice?.function?.name, `${way}: a tool must be called`);
        assert.equal(tools.find(t => t.function.name === 'send_message').function.parameters.properties.request_heartbeat, undefined, 'it ends the turn');
        assert.equal(requests.length, 1);
      }
    });

    test('shows the call itself to who asks for it', async () => {
      const agent = await newAgent(kind);
      const { messages } = await send(agent, 'hi', [say('hello')], { use_assistant_message: false });
      const call = messages.find(m => m.message_type === 'tool_call_message');
      assert.equal(call.tool_call.name, 'send_message');
      assert.equal(JSON.parse(call.tool_call.arguments).message, 'hello');
      assert.ok(types(messages).includes('tool_return_message'));
      assert.ok(!types(messages).includes('assistant_message'));
      const listed = async more => (await client.agents.messages.list(agent.id, { order: 'asc', limit: 100, ...more })).items;
      assert.ok((await listed()).some(m => m.message_type === 'assistant_message' && m.content === 'hello'));
      assert.ok((await listed({ use_assistant_message: false })).some(m => m.tool_call?.name === 'send_message' && /hello/.test(m.tool_call.arguments)));
    });
  });
}

for (const kind of ['memgpt_agent', 'react_agent', 'workflow_agent']) {
  describe(`a step of ${kind}`, () => {
    // Rules would decide in the model's place.
    const free = () => newAgent(kind, { include_base_tool_rules: false });

    test('is followed by another where a heartbeat is asked for', async () => {
      const agent = await free();
      const { messages, stop_reason, usage } = await send(agent, 'keep red', [append('red', true), say('kept')]);
      assert.deepEqual(types(messages).filter(t => t !== 'reasoning_message'), ['tool_call_message', 'tool_return_message', 'assistant_message']);
      assert.deepEqual([stop_reason.stop_reason, usage.step_count, messages.at(-1).content], ['end_turn', 2, 'kept']);
      assert.equal(await block(agent), 'paper\nred');
      const heartbeat = JSON.parse(textOf(requests[1].messages.at(-1)));
      assert.deepEqual([requests[1].messages.at(-1).role, heartbeat.type], ['user', 'heartbeat']);
      const schema = requests[0].tools.find(t => t.function.name === 'core_memory_append').function.parameters;
      assert.ok(schema.required.includes('request_heartbeat'));
    });

    test('is the last where none is asked for', async () => {
      const agent = await free();
      const { stop_reason, usage } = await send(agent, 'keep red', [append('red', false), say('not asked')]);
      assert.deepEqual([stop_reason.stop_reason, usage.step_count, requests.length], ['end_turn', 1, 1]);
      assert.equal(await block(agent), 'paper\nred');
    });

    test('is counted against the limit', async () => {
      const agent = await free();
      const { stop_reason, usage } = await send(agent, 'go on', [append('x', true)], { max_steps: 3 });
      assert.deepEqual([stop_reason.stop_reason, usage.step_count, requests.length], ['max_steps', 3, 3]);
      assert.equal(await block(agent), 'paper\nx\nx\nx');
      assert.equal((await send(agent, 'hi', [say('hello')])).messages.at(-1).content, 'hello', 'and the agent goes on');
    });

    test('without a call is an error of the model, and the agent goes on', async () => {
      const agent = await free();
      script = ['just text'];
      requests = [];
      await assert.rejects(client.agents.messages.create(agent.id, user('hi')), error => {
        assert.equal(error.error.error.type, 'llm_error');
        return /No tool calls found in response/.test(JSON.stringify(error.error));
      });
      assert.equal((await send(agent, 'hi', [say('hello')])).messages.at(-1).content, 'hello');
    });
  });
}

describe('an older agent', () => {
  test('keeps what it thinks apart from what it says', async () => {
    const agent = await newAgent('memgpt_agent');
    await client.agents.update(agent.id, { llm_config: { ...agent.llm_config, put_inner_thoughts_in_kwargs: true } });
    for (const [way, go] of Object.entries({ blocking: b => client.agents.messages.create(agent.id, b).then(r => r.messages), tokens: async b => { const all = []; for await (const e of await client.agents.messages.create(agent.id, { ...b, streaming: true, stream_tokens: true })) all.push(e); return all; } })) {
      script = [say('hello')];
      requests = [];
      const messages = await go(user('hi'));
      assert.equal(messages.filter(m => m.message_type === 'reasoning_message').map(m => m.reasoning).join(''), 'I am asked', way);
      assert.equal(messages.filter(m => m.message_type === 'assistant_message').map(m => m.content).join(''), 'hello', way);
      assert.ok(requests[0].tools.every(t => Object.keys(t.function.parameters.properties)[0] === 'thinking'), 'each tool asks for the thought first');
    }
  });

  test('that clears its buffer knows nothing of the turn before', async () => {
    const agent = await newAgent('workflow_agent');
    await send(agent, 'first words', [say('one')]);
    await send(agent, 'second words', [say('two')]);
    const shown = requests[0].messages.map(textOf).join('\n');
    assert.ok(shown.includes('second words') && !shown.includes('first words'));
    const keeps = await newAgent('react_agent');
    await send(keeps, 'first words', [say('one')]);
    await send(keeps, 'second words', [say('two')]);
    assert.ok(requests[0].messages.map(textOf).join('\n').includes('first words'));
  });

  for (const kind of ['memgpt_agent', 'react_agent', 'workflow_agent']) {
    test(`waits for approval: ${kind}`, async () => {
      const rules = { include_base_tool_rules: false, tool_rules: [{ type: 'requires_approval', tool_name: 'core_memory_append' }] };
      const yes = (call, approve, reason) => ({ messages: [{ type: 'approval', approvals: [{ type: 'approval', tool_call_id: call.tool_call_id, approve, reason }] }] });
      for (const [way, go] of Object.entries(ways)) {
        const agent = await newAgent(kind, rules);
        const ask = async () => {
          script = [append('red', true), say('kept')];
          requests = [];
          const turn = await go(client, agent.id, user('keep red'));
          assert.deepEqual([turn.stop, turn.asked.length, turn.asked[0]?.name], ['requires_approval', 1, 'core_memory_append'], way);
          assert.equal(JSON.parse(turn.asked[0].arguments).content, 'red');
          return turn.asked[0];
        };
        const first = await ask();
        assert.equal(await block(agent), 'paper');
        script = [say('refused')];
        const denied = await go(client, agent.id, yes(first, false, 'no red'));
        assert.deepEqual([denied.said, await block(agent)], ['refused', 'paper'], way);
        assert.match(requests.at(-1).messages.map(textOf).join('\n'), /no red/);
        const second = await ask();
        script = [say('kept')];
        const allowed = await go(client, agent.id, yes(second, true));
        assert.deepEqual([allowed.said, allowed.stop, await block(agent)], ['kept', 'end_turn', 'paper\nred'], way);
      }
    });
  }
});
