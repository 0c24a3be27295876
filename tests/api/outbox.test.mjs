// What the server says of itself: work that was promised and is not done, and the numbers for Prometheus.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { call, eventually, startServer, temporaryFolder } from '../lib/server.mjs';

const script = path.join(temporaryFolder(), 'slow.json');
fs.writeFileSync(script, JSON.stringify({ scenes: [{ user: 'hang', replies: [{ say: [{ hang: true }] }] }] }));
let server;
before(async () => { server = await startServer({ args: ['--rehearsal', script] }); });
after(() => server.stop());
const ok = async (method, target, body) => {
  const answer = await call(server.base, method, target, body);
  assert.equal(answer.status, 200, `${method} ${target}: ${answer.text}`);
  return answer;
};
const agent = async name => (await ok('POST', '/v1/agents/', { name, model: 'rehearsal/slow', include_base_tools: false, memory_blocks: [] })).json;
const hang = { messages: [{ role: 'user', content: 'hang' }] };

test('the outbox names what goes on without a client', async () => {
  assert.deepEqual((await ok('GET', '/v1/outbox')).json, { kinds: {}, callbacks_due: 0, turns: [] });
  const [a, b] = [await agent('a'), await agent('b')];
  const run = (await ok('POST', `/v1/agents/${a.id}/messages/async`, hang)).json;
  const group = (await ok('POST', '/v1/groups/', { agent_ids: [b.id], description: 'g' })).json;
  const round = (await ok('POST', `/v1/groups/${group.id}/messages/async`, hang)).json;
  const full = await eventually(async () => (await ok('GET', '/v1/outbox')).json, o => o.turns.length === 3);
  assert.deepEqual(full.kinds, { background: 1, group: 1, group_turn: 1 });
  assert.equal(full.turns[0].run_id, run.id);
  assert.equal((await ok('GET', '/v1/outbox?limit=1')).json.turns.length, 1);
  const text = (await ok('GET', '/v1/metrics')).text;
  assert.match(text, /^troupe_promised_turns\{kind="group_turn"\} 1$/m);
  assert.match(text, /^troupe_resident\{actor="directory"\} \d+$/m);
  await ok('POST', `/v1/agents/${a.id}/messages/cancel`, { run_ids: [run.id] });
  await ok('POST', `/v1/agents/${b.id}/messages/cancel`, { run_ids: [round.id] });
  await eventually(async () => (await ok('GET', '/v1/outbox')).json, o => o.turns.length === 0);
});
