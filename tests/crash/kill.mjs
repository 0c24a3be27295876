// kill -9 at random moments under load: what was acknowledged is there once, and the next request works.
//   node tests/crash/kill.mjs [--kills N] [--seed S] [--no-faults]
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { binary, sleep, startServer, temporaryFolder } from '../lib/server.mjs';
import { createAgent, randomFrom, send, useUntilGone } from './clients.mjs';
import { checkAll, checkNext } from './verify.mjs';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '25' }, seed: { type: 'string' }, 'no-faults': { type: 'boolean', default: false } } });
const kills = Number(values.kills);
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const random = randomFrom(seed);
const script = path.resolve(import.meta.dirname, 'rehearsal.json');
const clients = 6, crew = 5; // crew: agents that are in use at the same time

// One folder with its agents, through any number of lives of the server.
class World {
  constructor() { this.data = temporaryFolder('troupe-kill'); this.ledgers = []; this.number = 0; }

  start(env = {}) { return startServer({ data: this.data, args: ['--rehearsal', script, '--log-level', 'error'], env }); }

  async populate() {
    const server = await this.start();
    while (this.ledgers.length < crew) await createAgent(server.base, this.ledgers, ++this.number);
    await server.kill();
  }

  // Load until the server is gone; `end` makes it go.
  async crash(end, env) {
    const server = await this.start(env);
    let gone = false;
    server.exited.then(() => { gone = true; });
    const seeds = Array.from({ length: clients }, () => Math.floor(random() * 2 ** 31));
    const load = Promise.all(seeds.map(s => useUntilGone(server.base, this.ledgers, randomFrom(s), () => gone, () => ++this.number)));
    await Promise.race([load, end(server, () => { gone = true; })]);
    gone = true;
    await server.exited;
    await load;
    return server;
  }

  async verify() {
    const server = await this.start();
    await checkAll(server.base, this.ledgers);
    await checkNext(server.base, this.ledgers, send);
    await checkAll(server.base, this.ledgers);
    await server.kill();
    this.retire();
  }

  // Long histories make every check slow: the fullest agents have done their part.
  retire() {
    if (this.ledgers.length <= crew) return;
    this.ledgers.sort((a, b) => a.sent.size - b.sent.size);
    this.ledgers.length = crew;
  }

  checkStore() { execFileSync(binary, ['check', '--data', this.data], { stdio: ['ignore', 'ignore', 'inherit'] }); }
}

async function killLoop() {
  const world = new World();
  await world.populate();
  let acknowledged = 0;
  const started = Date.now();
  for (let i = 0; i < kills; ++i) {
    const moment = random() * random() * 400;
    await world.crash(async (server, gone) => {
      await sleep(moment);
      gone();
      assert.equal((await server.kill()).signal, 'SIGKILL', 'it did not end by itself');
    });
    acknowledged += world.ledgers.reduce((n, l) => n + [...l.sent.values()].filter(e => e.acknowledged).length, 0);
    try {
      await world.verify();
    } catch (e) {
      e.message = `after kill ${i + 1}, ${moment.toFixed(1)} ms into the load: ${e.message}`;
      throw e;
    }
    if (i % 20 === 19) world.checkStore();
  }
  world.checkStore();
  assert.ok(kills < 10 || acknowledged > 0, 'nothing was ever acknowledged: this tests nothing');
  console.log(`${kills} kills in ${((Date.now() - started) / 1000).toFixed(1)} s, ${world.number} agents: every acknowledged message is there once`);
}

// The named fault points of a build that has them: the process ends there, once early and once late.
async function faultLoop() {
  const points = ['store.put', 'store.erase', 'store.commit', 'store.committed'];
  const world = new World();
  await world.populate();
  for (const point of points)
    for (const count of [60, 200, 61 + Math.floor(random() * 140)]) {
      const fault = `${point}:${count}`;
      let server;
      try {
        server = await world.crash(s => s.exited, { TROUPE_FAULT: fault });
      } catch (e) {
        if (/no such fault/.test(e.message)) return console.log('this build has no fault points');
        throw e;
      }
      assert.equal((await server.exited).code, 137, `${fault}: ended at the point`);
      await world.verify();
    }
  world.checkStore();
  console.log(`${points.length} fault points: the same`);
}

try {
  await killLoop();
  if (!values['no-faults']) await faultLoop();
} catch (e) {
  console.error(`seed ${seed}: ${e.stack}`);
  process.exit(1);
}
process.exit(0);
