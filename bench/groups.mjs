// Groups in figures: what a foreground turn costs while companions work behind it, and what groups of many sizes and
// many groups at once take. Each figure is printed; ratios are taken in one run.
//   node bench/groups.mjs [--turns N]
import fs from 'node:fs';
import { startServer, call } from '../tests/lib/server.mjs';

const turns = +(process.argv[process.argv.indexOf('--turns') + 1] || 0) || 400;
const server = await startServer();
const ok = async (method, target, body) => {
  const answer = await call(server.base, method, target, body);
  if (answer.status !== 200) throw new Error(`${method} ${target}: ${answer.status} ${answer.text}`);
  return answer.json;
};
const agent = (name, more) => ok('POST', '/v1/agents/', { name, model: 'rehearsal/default', include_base_tools: false, memory_blocks: [{ label: 'human', value: '' }], ...more });
const user = content => ({ messages: [{ role: 'user', content }] });
const memory = () => +/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1];
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];
const print = (what, value, note = '') => console.log(`${what.padEnd(58)} ${value}${note && '   ' + note}`);

async function timed(action) {
  const began = performance.now();
  await action();
  return performance.now() - began;
}

// -- isolation (G6): the same turns, in turn with and without companions, so that the machine's moods hit both --------
const quiet = await agent('quiet');
const busy = await agent('busy', { enable_sleeptime: true });
await ok('PATCH', `/v1/groups/${busy.multi_agent_group.id}`, { manager_config: { manager_type: 'sleeptime', sleeptime_agent_frequency: 1 } });
const plain = [], beside = [];
for (let i = 0; i < turns; ++i) {
  await ok('POST', `/v1/agents/${busy.id}/messages`, user(`turn ${i}`)); // sets a companion to work
  beside.push(await timed(() => ok('POST', `/v1/agents/${quiet.id}/messages`, user(`turn ${i}`))));
  for (;;) { // until it is done
    const active = await ok('GET', '/v1/runs/active');
    if (active.length === 0) break;
  }
  plain.push(await timed(() => ok('POST', `/v1/agents/${quiet.id}/messages`, user(`turn ${i}`))));
}
print('foreground turn, companions at rest: p50 / p99', `${quantile(plain, 0.5).toFixed(2)} / ${quantile(plain, 0.99).toFixed(2)} ms`);
print('foreground turn, a companion at work: p50 / p99', `${quantile(beside, 0.5).toFixed(2)} / ${quantile(beside, 0.99).toFixed(2)} ms`);
print('ratio of the p99', (quantile(beside, 0.99) / quantile(plain, 0.99)).toFixed(3), 'budget 1.05');

// -- sizes ------------------------------------------------------------------------------------------------------------
for (const n of [2, 10, 100]) {
  const members = [];
  for (let i = 0; i < n; ++i) members.push((await agent(`m${n}-${i}`)).id);
  const g = await ok('POST', '/v1/groups/', { agent_ids: members, description: `${n}` });
  const before = memory();
  const ms = await timed(() => ok('POST', `/v1/groups/${g.id}/messages`, user('hello')));
  print(`a round of ${n} members`, `${ms.toFixed(0)} ms, ${(ms / n).toFixed(2)} ms a turn, ${memory() - before} KiB more`);
}

// -- many at once -----------------------------------------------------------------------------------------------------
const pairs = [];
for (let i = 0; i < 1000; ++i) pairs.push([(await agent(`a${i}`)).id, (await agent(`b${i}`)).id]);
const groups = [];
for (const p of pairs) groups.push((await ok('POST', '/v1/groups/', { agent_ids: p, description: 'pair' })).id);
const before = memory();
const ms = await timed(() => Promise.all(groups.map(g => ok('POST', `/v1/groups/${g}/messages`, user('hello')))));
print('1,000 groups of two at once', `${ms.toFixed(0)} ms, ${(2000 / ms * 1000).toFixed(0)} turns/s, ${memory() - before} KiB more`);
await server.stop();
