// The parts of the messages, steps, runs and jobs API that no recording shows or that do better than it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startModel } from '../lib/model.mjs';
import { call, eventually, startServer } from '../lib/server.mjs';

const model = 'rehearsal/default', embedding = 'letta/letta-free';
let server;
before(async () => { server = await startServer(); });
after(() => server.stop());

const api = (method, target, body, headers) => call(server.base, method, target, body, headers);
const ok = async (...request) => { const answer = await api(...request); assert.equal(answer.status, 200, answer.text); return answer.json; };
const newAgent = (more = {}) => ok('POST', '/v1/agents/', { model, embedding, include_base_tools: false, memory_blocks: [], ...more });
const send = (agent, text) => ok('POST', `/v1/agents/${agent.id}/messages`, { messages: [{ role: 'user', content: text }] });

describe('search over messages', () => {
  let fox, turtle;
  before(async () => {
    fox = await newAgent({ name: 'fox' });
    turtle = await newAgent({ name: 'turtle' });
    await send(fox, 'the quick brown fox');
    await send(turtle, 'a slow green turtle');
    await send(turtle, 'three turtles and one more');
  });
  const search = body => ok('POST', '/v1/messages/search', body);
  const texts = list => list.map(m => m.content);

  test('finds words, in the messages of all agents or of one', async () => {
    const found = await search({ query: 'turtle', search_mode: 'fts' });
    assert.deepEqual(texts(found).toSorted(), ['You said: a slow green turtle', 'a slow green turtle']);
    assert.deepEqual(Object.keys(found[0]), ['message_type', 'content', 'message_id', 'agent_id', 'conversation_id', 'created_at']);
    assert.deepEqual(new Set(found.map(m => m.agent_id)), new Set([turtle.id]));
    assert.deepEqual(await search({ query: 'turtle', agent_id: fox.id }), []);
    assert.deepEqual(await search({ query: 'turtle', agent_id: 'nobody' }), []);
  });

  test('finds relatives of words where likeness counts', async () => {
    for (const search_mode of ['vector', 'hybrid']) {
      const found = texts(await search({ query: 'turtle', search_mode }));
      assert.ok(found.includes('a slow green turtle') && found.includes('three turtles and one more'), search_mode);
      assert.ok(found.indexOf('a slow green turtle') < found.indexOf('three turtles and one more'), `${search_mode}: the word itself first`);
    }
  });

  test('takes limits, times and threads', async () => {
    assert.equal((await search({ query: 'turtle', limit: 1 })).length, 1);
    const now = new Date(Date.now() + 60_000).toISOString();
    assert.deepEqual(await search({ query: 'turtle', start_date: now }), []);
    assert.deepEqual(await search({ query: 'turtle', end_date: '2020-01-01T00:00:00Z' }), []);
    assert.ok((await search({ query: 'turtle', conversation_id: 'default' })).length > 0);
    assert.deepEqual(await search({ query: 'turtle', conversation_id: 'conv-00000000-0000-4000-8000-000000000001' }), []);
  });

  test('gives raw messages with their ranks', async () => {
    const found = await ok('POST', '/v1/agents/messages/search', { query: 'turtle', roles: ['user'] });
    assert.deepEqual(Object.keys(found[0]), ['embedded_text', 'message', 'fts_rank', 'vector_rank', 'rrf_score']);
    assert.equal(found[0].embedded_text, 'a slow green turtle');
    assert.equal(found[0].message.role, 'user');
    assert.deepEqual([found[0].fts_rank, found[0].vector_rank], [1, 1]);
    assert.ok(found.every((hit, i) => i === 0 || hit.rrf_score <= found[i - 1].rrf_score), 'best first');
    const newest = await ok('POST', '/v1/agents/messages/search', { limit: 2, agent_id: turtle.id });
    assert.deepEqual(newest.map(hit => hit.embedded_text), ['You said: three turtles and one more', 'three turtles and one more']);
  });

  test('knows nothing of an agent that is gone', async () => {
    const gone = await newAgent();
    await send(gone, 'a zebra');
    assert.equal((await search({ query: 'zebra', search_mode: 'fts' })).length, 2);
    await ok('DELETE', `/v1/agents/${gone.id}`);
    assert.deepEqual(await search({ query: 'zebra' }), []);
  });
});

describe('generate', () => {
  test('asks the model of the agent and keeps nothing', async () => {
    const agent = await newAgent();
    const made = await ok('POST', `/v1/agents/${agent.id}/generate`, { prompt: 'say yes', system_prompt: 'Be brief.' });
    assert.equal(made.content, 'yes');
    assert.equal(made.model, 'default');
    assert.equal(made.usage.message_type, 'usage_statistics');
    assert.ok(made.usage.total_tokens > 0 && made.usage.step_count === 1);
    assert.equal((await ok('GET', `/v1/agents/${agent.id}/messages`)).length, 1, 'the system message alone');
    assert.deepEqual(await ok('GET', `/v1/runs/?agent_id=${agent.id}`), []);
  });

  test('refuses what it cannot do', async () => {
    const agent = await newAgent();
    assert.equal((await api('POST', `/v1/agents/${agent.id}/generate`, { prompt: '' })).status, 422);
    assert.equal((await api('POST', `/v1/agents/${agent.id}/generate`, {})).status, 422);
    assert.equal((await api('POST', `/v1/agents/${agent.id}/generate`, { prompt: 'x', override_model: 'no/model' })).status, 404);
    assert.equal((await api('POST', '/v1/agents/agent-00000000-0000-4000-8000-000000000001/generate', { prompt: 'x' })).status, 404);
  });
});

describe('steps', () => {
  test('are listed with every filter', async () => {
    const agent = await newAgent();
    for (const text of ['one', 'two', 'three']) await send(agent, text);
    const list = query => ok('GET', `/v1/steps/?agent_id=${agent.id}&${query}`);
    const all = await list('order=asc');
    assert.equal(all.length, 3);
    const ids = all.map(s => s.id);
    assert.deepEqual((await list('')).map(s => s.id), ids.toReversed());
    assert.deepEqual((await list('limit=1')).map(s => s.id), [ids[2]]);
    assert.deepEqual((await list(`order=asc&after=${ids[0]}`)).map(s => s.id), ids.slice(1));
    assert.deepEqual((await list(`order=asc&before=${ids[2]}`)).map(s => s.id), ids.slice(0, 2));
    assert.equal((await list('model=default')).length, 3);
    assert.equal((await list('model=other')).length, 0);
    await ok('PATCH', `/v1/steps/${ids[1]}/feedback`, { feedback: 'negative', tags: ['slow'] });
    for (const query of ['feedback=negative', 'has_feedback=true', 'tags=slow']) assert.deepEqual((await list(query)).map(s => s.id), [ids[1]], query);
    assert.equal((await list('has_feedback=false')).length, 2);
    assert.equal((await list('feedback=positive')).length, 0);
    assert.equal((await list('start_date=2020-01-01T00:00:00Z&end_date=2021-01-01')).length, 0);
    const wrong = await api('GET', '/v1/steps/?feedback=meh');
    assert.equal(wrong.status, 422);
    assert.match(wrong.json.detail, /literal_error/);
  });

  test('are counted to a transaction', async () => {
    const agent = await newAgent();
    await send(agent, 'one');
    const [step] = await ok('GET', `/v1/steps/?agent_id=${agent.id}`);
    assert.equal((await ok('PATCH', `/v1/steps/${step.id}/transaction/tx-7`)).tid, 'tx-7');
    assert.equal((await ok('GET', `/v1/steps/${step.id}`)).tid, 'tx-7');
    assert.equal((await api('PATCH', '/v1/steps/step-00000000-0000-4000-8000-000000000001/transaction/x')).status, 404);
  });
});

describe('batches', () => {
  const request = (agent, text) => ({ agent_id: agent.id, messages: [{ role: 'user', content: text }] });
  const ended = job => eventually(() => ok('GET', `/v1/messages/batches/${job.id}`), j => j.status !== 'running');

  test('send many messages as one job', async () => {
    const [a, b] = [await newAgent(), await newAgent()];
    const made = await ok('POST', '/v1/messages/batches', { requests: [request(a, 'to a'), request(b, 'to b'), request(a, 'to a again')] });
    assert.match(made.id, /^job-/);
    assert.equal(made.job_type, 'batch');
    const done = await ended(made);
    assert.equal(done.status, 'completed');
    assert.ok(done.completed_at && done.total_duration_ns > 0);
    assert.ok(!(await ok('GET', '/v1/messages/batches')).some(j => j.id === made.id)); // only those at work
    assert.deepEqual(await ok('GET', `/v1/jobs/${made.id}`), done);

    const { messages } = await ok('GET', `/v1/messages/batches/${made.id}/messages?order=asc`);
    assert.deepEqual(messages.map(m => m.role).toSorted(), ['assistant', 'assistant', 'assistant', 'user', 'user', 'user']);
    const ofA = await ok('GET', `/v1/messages/batches/${made.id}/messages?agent_id=${a.id}&order=asc`);
    assert.deepEqual(ofA.messages.map(m => m.content[0].text), ['to a', 'You said: to a', 'to a again', 'You said: to a again']);
  });

  test('are refused as a whole where one agent is not there', async () => {
    const a = await newAgent();
    const nobody = { id: 'agent-00000000-0000-4000-8000-000000000001' };
    assert.equal((await api('POST', '/v1/messages/batches', { requests: [request(a, 'x'), request(nobody, 'x')] })).status, 404);
    assert.deepEqual(await ok('GET', `/v1/runs/?agent_id=${a.id}`), []);
  });

  test('are cancelled with the runs that still work for them', async () => {
    let arrived, release;
    const asked = new Promise(done => { arrived = done; }), held = new Promise(done => { release = done; });
    const slow = await startModel(async () => { arrived(); await held; return { text: 'late' }; });
    const own = await startServer({ env: slow.env });
    try {
      const there = async (...request) => (await call(own.base, ...request)).json;
      const agent = await there('POST', '/v1/agents/', { model: slow.handle, embedding, include_base_tools: false, memory_blocks: [] });
      const made = await there('POST', '/v1/messages/batches', { requests: [request(agent, 'one'), request(agent, 'two')] });
      await asked;
      assert.deepEqual(await there('GET', '/v1/jobs/active'), [], 'batches are no jobs of that list');
      assert.equal(await there('PATCH', `/v1/messages/batches/${made.id}/cancel`), null);
      assert.equal((await there('GET', `/v1/jobs/${made.id}`)).status, 'cancelled');
      const runs = await eventually(() => there('GET', `/v1/runs/?agent_id=${agent.id}`), all => all.every(r => r.completed_at));
      assert.deepEqual(runs.map(r => r.status), ['cancelled', 'cancelled']);
    } finally { release(); await own.stop(); slow.stop(); }
  });

  test('are deleted as jobs; one that has ended is not cancelled any more', async () => {
    const a = await newAgent();
    const made = await ok('POST', '/v1/messages/batches', { requests: [request(a, 'x')] });
    await ended(made);
    assert.equal(await ok('PATCH', `/v1/messages/batches/${made.id}/cancel`), null);
    assert.equal((await ok('PATCH', `/v1/jobs/${made.id}/cancel`)).status, 'completed');
    assert.equal((await ok('DELETE', `/v1/jobs/${made.id}`)).id, made.id);
    assert.equal((await api('GET', `/v1/messages/batches/${made.id}`)).status, 404);
  });
});
