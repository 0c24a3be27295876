// Voice agents: what has left their context they find again with search_memory.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { lastText, startModel } from '../lib/model.mjs';
import { call, eventually, startServer } from '../lib/server.mjs';

// Who is to look calls search_memory and then says so; the companion saves what was said of a parcel, and the answer.
function decide(body) {
  const last = lastText(body), goesOn = body.messages.at(-1).role === 'tool' || /"type": "heartbeat"/.test(last);
  if (body.tools?.some(t => t.function.name === 'store_memories')) {
    if (goesOn) return { calls: [{ name: 'finish_rethinking_memory', args: {} }] };
    const [, line] = last.split('<lines_that_stay>')[0].match(/^(\d+)\. user: the parcel/m) ?? [];
    return { calls: [{ name: 'store_memories', args: { chunks: line ? [{ start_index: +line, end_index: +line + 1, context: 'The parcel was promised.' }] : [] } }] };
  }
  const [, looks] = last.match(/look for (\w+)/) ?? [];
  if (looks && !goesOn) return { calls: [{ name: 'search_memory', args: { thinking: 'I look', convo_keyword_queries: [looks], start_minutes_ago: null, end_minutes_ago: 60, request_heartbeat: true } }] };
  return { calls: [{ name: 'send_message', args: { thinking: 'I speak', message: goesOn ? 'I have looked' : 'I hear you' } }] };
}

let model, server;
before(async () => { model = await startModel(decide); server = await startServer({ env: model.env }); });
after(async () => { await server.stop(); model.stop(); });
const ok = async (...request) => { const answer = await call(server.base, ...request); assert.equal(answer.status, 200, answer.text); return answer.json; };
const newAgent = () => ok('POST', '/v1/agents/', { agent_type: 'voice_convo_agent', enable_sleeptime: true, model: model.handle, embedding: 'letta/letta-free', memory_blocks: [{ label: 'human', value: '' }] });
const say = (agent, content) => ok('POST', `/v1/agents/${agent.id}/messages`, { messages: [{ role: 'user', content }] });
const run = (agent, args) => ok('POST', `/v1/agents/${agent.id}/tools/search_memory/run`, { args });

describe('search_memory', () => {
  test('is there by default, and finds what was said', async () => {
    const agent = await newAgent();
    assert.deepEqual(agent.tools.map(t => t.name).sort(), ['search_memory', 'send_message']);
    await say(agent, 'my PARCEL is late');
    const { messages } = await say(agent, 'look for parcel');
    const result = messages.find(m => m.message_type === 'tool_return_message');
    assert.equal(result.status, 'success');
    assert.deepEqual(JSON.parse(result.tool_return), { archival_search_results: [], convo_keyword_search_results: { parcel: ['my PARCEL is late'] } });
    assert.equal(messages.find(m => m.message_type === 'assistant_message').content, 'I have looked');
  });

  test('finds what the companion saved, in a window of time', async () => {
    const agent = await newAgent();
    const group = agent.managed_group ?? agent.multi_agent_group;
    await ok('PATCH', `/v1/groups/${group.id}`, { manager_config: { manager_type: 'voice_sleeptime', max_message_buffer_length: 6, min_message_buffer_length: 5 } });
    for (const text of ['the parcel comes on Monday', 'two', 'three', 'four']) await say(agent, text);
    const search = args => run(agent, { convo_keyword_queries: null, start_minutes_ago: null, end_minutes_ago: null, ...args }).then(r => { assert.equal(r.status, 'success'); return JSON.parse(r.func_return); });
    const { archival_search_results: [saved] } = await eventually(() => search({}), r => r.archival_search_results.length === 1);
    assert.match(saved.timestamp, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?\+00:00$/);
    assert.equal(saved.content, '<memory><messages><message>user: the parcel comes on Monday</message><message>assistant: I hear you</message></messages><context>The parcel was promised.</context></memory>');
    assert.deepEqual((await search({ start_minutes_ago: 5 })).archival_search_results, []);
    const { convo_keyword_search_results: found } = await search({ convo_keyword_queries: ['monday', 'nothing'], end_minutes_ago: 5 });
    assert.deepEqual(found, { monday: ['the parcel comes on Monday'] });
  });
});
