// Many at once: turns of one context go strictly one after another, whatever comes in meanwhile; agents, and the
// conversations of an agent, go side by side. No clock decides here: the model of the test says who is inside at once.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { barrier, lastText, startModel, textOf } from '../lib/model.mjs';
import { frames } from '../lib/openapi.mjs';
import { call, startServer } from '../lib/server.mjs';

const crowd = 200, limit = { timeout: 180_000 };
let server, model, decide; // decide: how the model answers in the test at hand

before(async () => {
  model = await startModel(body => decide(body));
  server = await startServer({ env: model.env, args: ['--queue', String(crowd)] });
});
after(async () => { await server.stop(); model.stop(); });

async function post(target, body, base = server.base) {
  const answer = await call(base, 'POST', target, body);
  assert.equal(answer.status, 200, answer.text.slice(0, 300));
  return answer.json ?? frames(answer.text);
}
const get = async target => (await call(server.base, 'GET', target)).json;
const newAgent = base => post('/v1/agents/', { model: model.handle, memory_blocks: [{ label: 'human', value: '' }] }, base);
const many = (n, f) => Promise.all(Array.from({ length: n }, (_, i) => f(i)));
const says = content => ({ messages: [{ role: 'user', content }] });

async function everything(target) {
  const all = [];
  for (;;) {
    const page = await get(`${target}${target.includes('?') ? '&' : '?'}order=asc&limit=100${all.length ? `&after=${all.at(-1).id}` : ''}`);
    if (!page.length) return all;
    all.push(...page);
  }
}

// Every fifth turn calls a tool first. Counts who is inside, and keeps what the model was shown of each turn.
function sequentialModel() {
  const seen = { inside: 0, most: 0, shown: new Map() };
  decide = async body => {
    seen.most = Math.max(seen.most, ++seen.inside);
    await new Promise(setImmediate); // others get a chance to come in, if the server lets them
    seen.inside--;
    const last = body.messages.at(-1);
    if (last.role === 'tool') return { text: 'written' };
    const number = lastText(body).match(/number (\d+)/)[1];
    seen.shown.set(number, body.messages.slice(1).map(m => ({ role: m.role, text: textOf(m) })));
    return number % 5 === 0 ? { calls: [{ name: 'memory_insert', args: { label: 'human', new_string: `n${number}` } }] } : { text: `echo ${number}` };
  };
  return seen;
}

const turnOf = number => (number % 5 === 0 ? ['user_message', 'tool_call_message', 'tool_return_message', 'assistant_message'] : ['user_message', 'assistant_message']);

describe('many sends to one agent', limit, () => {
  let agent, answers, seen;
  before(async () => {
    seen = sequentialModel();
    agent = await newAgent();
    answers = await many(crowd, i => post(`/v1/agents/${agent.id}/messages${i % 2 ? '/stream' : ''}`, i % 2 ? { ...says(`number ${i}`), include_pings: false } : says(`number ${i}`)));
  });

  test('all are answered, each with its own answer', () => {
    for (const [i, answer] of answers.entries()) {
      const messages = i % 2 ? answer.slice(0, -2) : answer.messages;
      assert.deepEqual(messages.map(m => m.message_type), turnOf(i).slice(1), `of ${i}`);
      assert.equal(messages.at(-1).content, i % 5 === 0 ? 'written' : `echo ${i}`);
    }
  });

  test('one after another: the model never had two of them at once', () => assert.equal(seen.most, 1));

  test('the history is a sequence of whole turns', async () => {
    const [prompt, ...history] = await everything(`/v1/agents/${agent.id}/messages`);
    assert.equal(prompt.message_type, 'system_message');
    const numbers = new Set();
    for (let at = 0; at < history.length;) {
      const number = +history[at].content.match(/number (\d+)/)[1];
      const turn = history.slice(at, at + turnOf(number).length);
      assert.deepEqual(turn.map(m => m.message_type), turnOf(number), `the turn of ${number}`);
      assert.equal(new Set(turn.map(m => m.run_id)).size, 1, 'of one run');
      assert.equal(turn.at(-1).content, number % 5 === 0 ? 'written' : `echo ${number}`);
      numbers.add(number);
      at += turn.length;
    }
    assert.equal(numbers.size, crowd);
  });

  test('each turn was decided with all turns before it in view, and no other', async () => {
    const order = (await everything(`/v1/agents/${agent.id}/messages`)).filter(m => m.message_type === 'user_message').map(m => m.content.match(/number (\d+)/)[1]);
    for (const [i, number] of order.entries()) {
      const users = seen.shown.get(number).filter(m => m.role === 'user').map(m => m.text.match(/number (\d+)/)[1]);
      assert.deepEqual(users, order.slice(0, i + 1));
      assert.equal(seen.shown.get(number).at(-2)?.role ?? 'assistant', 'assistant', 'the turn before was over');
    }
  });

  test('each has a run that ended well, with the steps that it took', async () => {
    const runs = await get(`/v1/runs/?agent_id=${agent.id}&limit=1000`);
    assert.equal(new Set(runs.map(r => r.id)).size, crowd);
    assert.deepEqual([...new Set(runs.map(r => `${r.status} ${r.stop_reason}`))], ['completed end_turn']);
    const steps = Map.groupBy(await everything(`/v1/steps/?agent_id=${agent.id}`), s => s.run_id);
    for (const [i, answer] of answers.entries()) {
      const messages = i % 2 ? answer.slice(0, -2) : answer.messages;
      const run = messages[0].run_id;
      assert.equal(steps.get(run)?.length, i % 5 === 0 ? 2 : 1, `steps of ${i}`);
      assert.ok(steps.get(run).every(s => s.status === 'success'));
      const step = await get(`/v1/steps/${messages[0].step_id}`);
      assert.equal(step.run_id, run);
      assert.deepEqual((await get(`/v1/runs/${run}/messages?order=asc`)).map(m => m.message_type), turnOf(i));
    }
  });

  test('what the tools wrote is there, each once', async () => {
    const { value } = await get(`/v1/agents/${agent.id}/core-memory/blocks/human`);
    assert.deepEqual(value.match(/\d+/g).map(Number).toSorted((a, b) => a - b), Array.from({ length: crowd / 5 }, (_, i) => i * 5));
  });
});

test('many agents are at work side by side', limit, async () => {
  const agents = await many(crowd, () => newAgent());
  const together = barrier(crowd); // nobody is answered before all have asked
  decide = async body => { await together(); return { text: lastText(body) }; };
  const answers = await many(crowd, i => post(`/v1/agents/${agents[i].id}/messages`, says(`I am ${i}`)));
  answers.forEach((answer, i) => assert.equal(answer.messages.at(-1).content, `I am ${i}`));
});

test('so are the conversations of one agent, and its own context', limit, async () => {
  const agent = await newAgent();
  const talks = await many(10, () => post(`/v1/conversations/?agent_id=${agent.id}`, {}));
  const together = barrier(talks.length + 1);
  decide = async body => { await together(); return { text: lastText(body) }; };
  const sends = [post(`/v1/agents/${agent.id}/messages`, says('itself')), ...talks.map((t, i) => post(`/v1/conversations/${t.id}/messages`, { ...says(`talk ${i}`), streaming: false }))];
  const said = (await Promise.all(sends)).map(a => a.messages.at(-1).content);
  assert.deepEqual(said, ['itself', ...talks.map((_, i) => `talk ${i}`)]);
});

test('beyond its bound the queue refuses, and what it took is answered', limit, async () => {
  const small = await startServer({ env: model.env, args: ['--queue', '3'] });
  const agent = await newAgent(small.base);
  let release;
  const held = new Promise(done => { release = done; });
  const entered = new Promise(done => { decide = async body => { done(); await held; return { text: lastText(body) }; }; });
  const target = `/v1/agents/${agent.id}/messages`;
  const first = post(target, says('first'), small.base);
  await entered;
  const rest = many(8, async i => { const answer = await call(small.base, 'POST', target, says(`later ${i}`)); if (answer.status === 429) refused.push(answer); if (refused.length === 5) release(); return answer; });
  const refused = [];
  const statuses = (await rest).map(a => a.status).toSorted();
  assert.deepEqual(statuses, [200, 200, 200, 429, 429, 429, 429, 429]);
  for (const answer of refused) assert.match(answer.headers.get('retry-after'), /^\d+$/);
  assert.equal((await first).messages.at(-1).content, 'first');
  await small.stop();
});
