// Groups in figures: what companions cost the turns in front of them and how soon they are done, what groups of many
// sizes and many groups at once take, what agents cost that nobody talks to. Each figure is printed; ratios are taken in
// one run.
//   node bench/groups.mjs [--turns N] [--passive N]
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { call, startServer, temporaryFolder } from '../tests/lib/server.mjs';
import { anonymous, load } from './lib.mjs';

const { values: options } = parseArgs({ options: { turns: { type: 'string', default: '400' }, passive: { type: 'string', default: '100000' } } });
const turns = Number(options.turns), passive = Number(options.passive);
// Companions write something down and finish, slow ones after a while; everybody else answers at once.
const companion = (pause, more) => ({ offered: 'memory_finish_edits', ...more, replies: [
  { say: [...pause, { call: 'memory_insert', arguments: { label: 'human', new_string: 'noted' } }] },
  { say: [...pause, { call: 'memory_finish_edits', arguments: {} }] }] });
const script = path.join(temporaryFolder(), 'bench.json');
fs.writeFileSync(script, JSON.stringify({
  scenes: [companion([{ delay_ms: 20 }], { user: 'slowly' }), companion([])],
  otherwise: { say: [{ text: 'I hear you.' }] },
}));
const data = temporaryFolder();
const start = () => startServer({ data, args: ['--rehearsal', script] });
let server = await start();
const ok = async (method, target, body) => {
  const answer = await call(server.base, method, target, body);
  if (answer.status !== 200) throw new Error(`${method} ${target}: ${answer.status} ${answer.text}`);
  return answer.json;
};
const agent = (name, more) => ok('POST', '/v1/agents/', { name, model: 'rehearsal/bench', include_base_tools: false, memory_blocks: [{ label: 'human', value: '' }], ...more });
const user = content => ({ messages: [{ role: 'user', content }] });
const memory = () => anonymous(server.pid) / 1024; // KiB, without the pages of the store
const stored = () => fs.statSync(path.join(data, 'data.mdb')).blocks / 2; // KiB
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];
const print = (what, value, note = '') => console.log(`${what.padEnd(58)} ${value}${note && '   ' + note}`);

async function timed(action) {
  const began = performance.now();
  await action();
  return performance.now() - began;
}

// -- what a trigger costs (G1): it is stored with the turn; the companion waits, so that it costs nothing meanwhile -------
const every_turn = more => ({ manager_config: { manager_type: 'sleeptime', sleeptime_agent_frequency: 1, ...more } });
async function pair(name, more) {
  const made = await agent(name, { enable_sleeptime: true });
  await ok('PATCH', `/v1/groups/${made.multi_agent_group.id}`, every_turn(more));
  return made;
}
const without = [], trigger = [];
for (let round = 0; round < turns / 12.5; ++round) { // new agents, and many turns: see isolation
  const alone = await agent(`alone-${round}`), waiting = await pair(`waiting-${round}`, { idle_seconds: 3600 });
  for (let i = 0; i < 100; ++i)
    for (const [a, times] of [[alone, without], [waiting, trigger]]) times.push(await timed(() => ok('POST', `/v1/agents/${a.id}/messages`, user(`turn ${i}`))));
  await ok('DELETE', `/v1/agents/${waiting.id}`); // with what its companion waits for
}
print('a turn, nobody is told: p50 / p99', `${quantile(without, 0.5).toFixed(2)} / ${quantile(without, 0.99).toFixed(2)} ms`);
print('a turn that a companion will be told: p50 / p99', `${quantile(trigger, 0.5).toFixed(2)} / ${quantile(trigger, 0.99).toFixed(2)} ms`);
print('  of the p99 the trigger has', `${(quantile(trigger, 0.99) - quantile(without, 0.99)).toFixed(2)} ms`, 'budget 1 ms');

// -- how soon a memory is there (G5): from the answer until the block has changed, with a model that takes no time ---------
const fresh = await pair('fresh'), ages = [];
const block = async () => (await ok('GET', `/v1/agents/${fresh.id}/core-memory/blocks/human`)).value;
for (let i = 0; i < turns / 4; ++i) {
  const before = await block();
  await ok('POST', `/v1/agents/${fresh.id}/messages`, user(`turn ${i}`));
  ages.push(await timed(async () => { while (await block() === before); }));
  while ((await ok('GET', '/v1/runs/active')).length);
}
print('answered until the memory is there: p50 / p99', `${quantile(ages, 0.5).toFixed(2)} / ${quantile(ages, 0.99).toFixed(2)} ms`, 'budget 20 ms, and the time of the model');

// -- isolation (G6): turns of one agent, each after one of another, whose companion is or is not told of it and needs a
// while. Stretches with and without companions alternate, so that the machine's moods hit both. Many turns: of 400 the p99
// is the fourth longest, and says more of the disk than of companions (1,600 gave ratios between 0.79 and 1.25).
// A stretch is long enough for companions to work in it, though they wait for a pause first. New agents after a while,
// because turns grow with their history.
const plain = [], beside = [];
for (let round = 0; round < turns * 8 / 25; ++round) {
  const quiet = await agent(`quiet-${round}`), calm = await agent(`calm-${round}`), busy = await pair(`busy-${round}`);
  const turn = (who, i) => ok('POST', `/v1/agents/${who.id}/messages`, user(`slowly ${i}`));
  const sides = [[busy, beside], [calm, plain]];
  for (const [first, times] of round % 2 ? sides.reverse() : sides) {
    for (let i = 0; i < 100; ++i) {
      await turn(first, i);
      times.push(await timed(() => turn(quiet, i)));
    }
    while ((await ok('GET', '/v1/runs/active')).length);
  }
}
print('foreground turn, companions at rest: p50 / p99', `${quantile(plain, 0.5).toFixed(2)} / ${quantile(plain, 0.99).toFixed(2)} ms`);
print('foreground turn, a companion at work: p50 / p99', `${quantile(beside, 0.5).toFixed(2)} / ${quantile(beside, 0.99).toFixed(2)} ms`);
print('ratio of the p99', (quantile(beside, 0.99) / quantile(plain, 0.99)).toFixed(3), 'budget 1.05');

// -- sizes ------------------------------------------------------------------------------------------------------------
for (const n of [2, 10, 100]) {
  const members = [];
  for (let i = 0; i < n; ++i) members.push((await agent(`m${n}-${i}`)).id);
  const g = await ok('POST', '/v1/groups/', { agent_ids: members, description: `${n}` });
  const before = [memory(), stored()];
  const ms = await timed(() => ok('POST', `/v1/groups/${g.id}/messages`, user('hello')));
  print(`a round of ${n} members`, `${ms.toFixed(0)} ms, ${(ms / n).toFixed(2)} ms a turn, ${memory() - before[0]} KiB of memory, ${stored() - before[1]} KiB stored`,
    `each hears all that was said: ${n * n} messages`);
}

// -- many at once -----------------------------------------------------------------------------------------------------
const pairs = [];
for (let i = 0; i < 1000; ++i) pairs.push([(await agent(`a${i}`)).id, (await agent(`b${i}`)).id]);
const groups = [];
for (const p of pairs) groups.push((await ok('POST', '/v1/groups/', { agent_ids: p, description: 'pair' })).id);
const before = memory();
const ms = await timed(() => Promise.all(groups.map(g => ok('POST', `/v1/groups/${g}/messages`, user('hello')))));
print('1,000 groups of two at once', `${ms.toFixed(0)} ms, ${(2000 / ms * 1000).toFixed(0)} turns/s, ${memory() - before} KiB more`);

// -- agents that nobody talks to (G10) ------------------------------------------------------------------------------------
const body = i => JSON.stringify({ name: `p${i}`, model: 'rehearsal/bench', include_base_tools: false, tags: ['passive'], memory_blocks: [{ label: 'human', value: '' }] });
const small = memory();
for (let i = 0; i < passive; i += 10_000)
  await load(+new URL(server.base).port, Array.from({ length: Math.min(10_000, passive - i) }, (_, n) => `POST /v1/agents/ ${body(i + n)}`), { connections: 64 });
await server.stop();
server = await start();
await ok('POST', `/v1/agents/${(await agent('alone')).id}/messages`, user('wake up'));
print(`memory of a server with ${passive} agents, ${small.toFixed(0)} KiB before`, `${memory()} KiB`, 'budget 200 MB');
const sleepers = (await ok('GET', '/v1/agents/?tags=passive&limit=500')).map(a => a.id);
const cold = [], warm = [];
for (const id of sleepers) for (const times of [cold, warm]) times.push(await timed(() => ok('POST', `/v1/agents/${id}/messages`, user('hello'))));
print('first turn of one of them above its second: p50', `${(quantile(cold, 0.5) - quantile(warm, 0.5)).toFixed(2)} ms`, 'budget 5 ms');
await server.stop();
