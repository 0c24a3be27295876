// Lists of runs by every filter of /runs and /_internal_runs; what one run and one step show.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { obey, startModel } from '../lib/model.mjs';
import { call, startServer } from '../lib/server.mjs';

let server, obedient, agent, other, tool;
const runs = {};
before(async () => {
  obedient = await startModel(async body => obey(body));
  server = await startServer({ env: obedient.env });
  const make = name => ok('POST', '/v1/agents/', { name, model: 'rehearsal/default', include_base_tools: true, memory_blocks: [{ label: 'human', value: '' }] });
  [agent, other] = [await make('one'), await make('two')];
  const say = async (to, content) => (await ok('POST', `/v1/agents/${to.id}/messages`, { messages: [{ role: 'user', content }] })).messages[0].run_id;
  runs.short = await say(agent, 'hello');
  runs.long = await say(agent, 'remember that I like tea');
  runs.other = await say(other, 'hello');
  const used = await ok('GET', `/v1/runs/${runs.long}/metrics`);
  [tool] = used.tools_used;
});
after(async () => { await server.stop(); obedient.stop(); });

async function ok(method, target, body) {
  const answer = await call(server.base, method, target, body);
  assert.equal(answer.status, 200, `${method} ${target}: ${answer.text}`);
  return answer.json;
}
async function refused(status, detail, target) {
  const answer = await call(server.base, 'GET', target);
  assert.deepEqual([answer.status, answer.json.detail], [status, detail], target);
}
const ids = async target => (await ok('GET', target)).map(x => x.id);
const names = async query => (await ok('GET', query)).map(r => Object.keys(runs).find(n => runs[n] === r.id));

describe('runs are listed', () => {
  const both = [
    ['', ['other', 'long', 'short']],
    ['order=asc', ['short', 'long', 'other']],
    ['ascending=true', ['short', 'long', 'other']],
    ['limit=2', ['other', 'long']],
    ['statuses=completed&statuses=failed', ['other', 'long', 'short']],
    ['statuses=failed', []],
    ['active=true', []],
    ['active=true&statuses=completed', ['other', 'long', 'short']], // statuses say more
    ['stop_reason=end_turn', ['other', 'long', 'short']],
    ['stop_reason=error', []],
    ['background=true', []],
    ['agent_id=', ['other', 'long', 'short']],
  ];
  for (const [query, expected] of both)
    test(`by ${query || 'nothing'}`, async () => {
      assert.deepEqual(await names(`/v1/runs/?${query}`), expected);
      assert.deepEqual(await names(`/v1/_internal_runs/?${query}`), expected);
    });

  const more = [
    [() => `run_id=${runs.long}`, ['long']],
    [() => `agent_id=${agent.id}`, ['long', 'short']],
    [() => 'step_count=1', ['other', 'short']],
    [() => 'step_count=2&step_count_operator=gte', ['long']],
    [() => 'step_count=1&step_count_operator=lte', ['other', 'short']],
    [() => `tools_used=${tool}`, ['long']],
    [() => 'start_date=2100-01-01T00:00:00Z', []],
    [() => 'end_date=2100-01-01T00:00:00Z&limit=1', ['other']],
    [() => 'duration_value=0&duration_operator=gt', ['other', 'long', 'short']],
    [() => 'duration_value=0&duration_operator=lt', []],
    [() => 'template_family=none', []],
  ];
  for (const [query, expected] of more)
    test(`for the console by ${String(query).slice(6)}`, async () => {
      assert.deepEqual(await names(`/v1/_internal_runs/?${query()}`), expected);
    });

  test('for the console by duration', async () => {
    const slow = await ok('GET', '/v1/_internal_runs/?order_by=duration');
    const times = slow.map(r => r.total_duration_ns);
    assert.deepEqual(times, times.toSorted((a, b) => b - a));
    assert.deepEqual((await ok('GET', '/v1/_internal_runs/?order_by=duration&order=asc')).map(r => r.id), slow.map(r => r.id).reverse());
    assert.deepEqual((await ok('GET', '/v1/_internal_runs/?duration_percentile=100')).map(r => r.id), [slow[0].id]);
    assert.equal((await call(server.base, 'GET', '/v1/_internal_runs/?order_by=steps')).status, 422);
  });
});

describe('a run', () => {
  test('shows its messages as the lists do, whatever its own answer was asked to show', async () => {
    const old = await ok('POST', '/v1/agents/', { name: 'old', model: obedient.handle, embedding: 'letta/letta-free', agent_type: 'memgpt_agent', memory_blocks: [] });
    const { messages } = await ok('POST', `/v1/agents/${old.id}/messages`, { messages: [{ role: 'user', content: 'call send_message {"thinking":"so","message":"hi"}' }], use_assistant_message: false });
    assert.ok(messages.some(m => m.message_type === 'tool_call_message'));
    const listed = (await ok('GET', `/v1/runs/${messages[0].run_id}/messages`)).map(m => m.message_type);
    assert.ok(listed.includes('assistant_message') && !listed.includes('tool_call_message'), listed.join());
  });

  test('has nothing to show in 0 items', async () => {
    for (const what of ['messages', 'steps']) assert.deepEqual(await ids(`/v1/runs/${runs.long}/${what}?limit=0`), []);
  });

  test('pages through its steps in time, from steps of any run', async () => {
    const steps = await ids(`/v1/runs/${runs.long}/steps?order=asc`), at = `/v1/runs/${runs.long}/steps`;
    const [first, last] = [steps[0], steps.at(-1)];
    const [earlier] = await ids(`/v1/runs/${runs.short}/steps`), [later] = await ids(`/v1/runs/${runs.other}/steps`);
    assert.deepEqual(await ids(at), steps.toReversed());
    assert.deepEqual(await ids(`${at}?order=asc&after=${earlier}`), steps);
    assert.deepEqual(await ids(`${at}?order=asc&after=${first}`), steps.slice(1));
    assert.deepEqual(await ids(`${at}?after=${last}`), steps.slice(0, -1).toReversed());
    assert.deepEqual(await ids(`${at}?before=${first}`), steps.slice(1).toReversed());
    assert.deepEqual(await ids(`${at}?after=${earlier}&before=${later}`), steps.toReversed());
    assert.deepEqual(await ids(`${at}?order=asc&after=${later}`), []);
    await refused(400, "'before' reference must be later than 'after' reference", `${at}?before=${earlier}&after=${later}`);
    const unknown = 'step-00000000-0000-4000-8000-000000000001';
    for (const cursor of ['before', 'after']) await refused(404, `No Step found with id ${unknown}`, `${at}?${cursor}=${unknown}`);
  });

  test('has no trace of spans, however many', async () => {
    assert.equal((await call(server.base, 'GET', `/v1/runs/${runs.long}/trace?limit=0`)).status, 422);
    assert.equal((await call(server.base, 'GET', `/v1/runs/${runs.long}/trace?limit=5000`)).status, 501);
  });
});

describe('a step', () => {
  let step, at;
  before(async () => { [step] = await ids(`/v1/runs/${runs.long}/steps?order=asc`); at = `/v1/steps/${step}/messages`; });

  test('pages through its messages in the chosen order', async () => {
    const all = await ids(at), middle = all[1];
    assert.ok(all.length > 2);
    assert.deepEqual(await ids(`${at}?limit=0`), []);
    assert.deepEqual(await ids(`${at}?after=${middle}`), all.slice(2));
    assert.deepEqual(await ids(`${at}?before=${middle}`), all.slice(0, 1));
    assert.deepEqual(await ids(`${at}?order=desc&after=${middle}`), all.slice(0, 1));
    assert.deepEqual(await ids(`${at}?order=desc&before=${middle}`), all.slice(2).toReversed());
    const unknown = 'message-00000000-0000-4000-8000-000000000001';
    await refused(404, `No Message found with id ${unknown}`, `${at}?after=${unknown}`);
  });

  test('keeps its tags where there are no others', async () => {
    const feedback = async body => (await ok('PATCH', `/v1/steps/${step}/feedback`, body)).tags;
    assert.deepEqual(await feedback({ feedback: 'positive', tags: ['a'] }), ['a']);
    assert.deepEqual(await feedback({ tags: [] }), ['a']);
    assert.deepEqual(await feedback({ tags: ['b'] }), ['b']);
  });
});
