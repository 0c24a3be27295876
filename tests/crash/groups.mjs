// Kills the server in the middle of groups' runs, again and again. What was acknowledged is done in the end, once: each
// run goes on at the turn at which it was interrupted, and everybody has heard everything once.
//   node tests/crash/groups.mjs [--kills N] [--seed S]
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { call, eventually, sleep, startServer, temporaryFolder } from '../lib/server.mjs';
import { randomFrom } from './clients.mjs';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '10' }, seed: { type: 'string' } } });
const kills = Number(values.kills);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const random = randomFrom(seed);

const script = path.join(temporaryFolder(), 'crew.json');
fs.writeFileSync(script, JSON.stringify({
  scenes: [{ offered: 'send_message_to_all_agents_in_group', replies: [
    { say: [{ delay_ms: 5 }, { call: 'send_message_to_all_agents_in_group', arguments: { message: 'ready?' } }] },
    { say: [{ delay_ms: 5 }, { text: 'all are' }] }] }],
  otherwise: { say: [{ delay_ms: 10 }, { text: '{{memory.persona}}' }] },
}));
const data = temporaryFolder();
const start = () => startServer({ data, args: ['--rehearsal', script] });
let server = await start();
const ok = async (method, target, body) => {
  const answer = await call(server.base, method, target, body);
  assert.equal(answer.status, 200, `${method} ${target}: ${answer.text}`);
  return answer.json;
};
const agent = name => ok('POST', '/v1/agents/', { name, model: 'rehearsal/crew', include_base_tools: false, memory_blocks: [{ label: 'persona', value: name }] });

const crews = [];
for (let i = 0; i < 3; ++i) {
  const members = [await agent(`a${i}`), await agent(`b${i}`), await agent(`c${i}`)];
  const boss = i === 2 ? await agent(`boss${i}`) : null;
  const manager_config = boss ? { manager_type: 'supervisor', manager_agent_id: boss.id } : { manager_type: 'round_robin' };
  crews.push({ members, boss, group: await ok('POST', '/v1/groups/', { agent_ids: members.map(m => m.id), description: `${i}`, manager_config }), runs: [] });
}

const spoken = async (a, run) => (await ok('GET', `/v1/agents/${a.id}/messages?limit=1000`)).filter(m => m.message_type === 'assistant_message' && (!run || m.run_id === run)).length;

async function check(crew) {
  for (const run of crew.runs) {
    const row = await eventually(() => ok('GET', `/v1/runs/${run}`), r => r.status !== 'created' && r.status !== 'running');
    assert.equal(row.status, 'completed', `seed ${seed}: ${JSON.stringify(row)}`);
  }
  const talk = await ok('GET', `/v1/groups/${crew.group.id}/messages?view=conversation&limit=1000&order=asc`);
  for (const run of crew.runs) {
    const names = talk.filter(m => m.run_id === run).map(m => m.name && m.name[0]);
    const order = crew.boss ? [names[0], names[1], ...names.slice(2, 5).sort(), names[5]] : names;
    assert.deepEqual(order, crew.boss ? [null, 'b', 'a', 'b', 'c', 'b'] : [null, 'a', 'b', 'c'], `seed ${seed}: ${names}`);
  }
  for (const a of crew.members) assert.equal(await spoken(a), crew.runs.length, `seed ${seed}: ${a.name} has spoken once a run`);
}

const began = Date.now();
let sent = 0;
for (let i = 0; i < kills; ++i) {
  const asked = crews.map(async crew => {
    const answer = await call(server.base, 'POST', `/v1/groups/${crew.group.id}/messages/async`, { messages: [{ role: 'user', content: `round ${i}` }] }).catch(() => null);
    if (answer?.status === 200) { crew.runs.push(answer.json.id); ++sent; }
  });
  await sleep(random() * 90);
  await server.kill();
  await Promise.all(asked);
  server = await start();
  // A request that was stored and not acknowledged is done as well: it counts, too.
  for (const crew of crews) {
    const stored = await ok('GET', `/v1/runs/?agent_id=${(crew.boss ?? crew.members[0]).id}&limit=1000&background=true`);
    for (const row of stored) if (row.metadata.run_type === 'send_group_message_async' && !crew.runs.includes(row.id)) crew.runs.push(row.id);
    await check(crew);
  }
}
await server.stop();
console.log(`${kills} kills in ${((Date.now() - began) / 1000).toFixed(1)} s, ${sent} runs of groups acknowledged: every one ended at its last turn, everybody has spoken once a run (seed ${seed})`);
