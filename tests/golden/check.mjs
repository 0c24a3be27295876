// Replays the recordings against the binary and compares what differs with the list of expected differences
// (expected.json). Fails where a step differs that is not on the list, and where a step on the list has begun to match,
// so that the list only shrinks.
//   node check.mjs [--only NAME] [--accept]      --accept takes steps that match off the list
import fs from 'node:fs';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { startServer, startProgram, temporaryFolder } from '../lib/server.mjs';

const here = import.meta.dirname;
const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1] : '';
const expectedFile = path.join(here, 'expected.json');
const expected = JSON.parse(fs.readFileSync(expectedFile, 'utf8'));

// Scenarios by what they are played against. What is on none of these lists needs the mock model alone.
// `client` is the environment of the replay, `mock` a further model that the setup needs.
const openai = { OPENAI_API_KEY: 'x', OPENAI_API_BASE: 'http://127.0.0.1:9099/v1' };
const isAnthropic = n => n.startsWith('anthropic-');
const isBusy = n => n === 'conversations-busy';
const setups = [
  { name: 'one OpenAI-compatible provider', when: n => !isAnthropic(n) && !isBusy(n), env: openai },
  { name: 'busy policy reject', when: isBusy, args: ['--busy', 'reject'], env: openai },
  { name: 'Anthropic', when: isAnthropic, mock: ['mock-anthropic.mjs', '--port', '9097'], env: { ...openai, ANTHROPIC_API_KEY: 'x', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9097' }, client: { GOLDEN_MODEL: 'anthropic/claude-sonnet-4-5-20250929' } },
];

const expand = text => text.split(',').flatMap(part => { const [a, b] = part.split('-').map(Number); return Array.from({ length: (b ?? a) - a + 1 }, (_, i) => a + i); });
const ranges = list => { const out = []; for (const n of [...list].sort((a, b) => a - b)) { const last = out.at(-1); if (last && last[1] === n - 1) last[1] = n; else out.push([n, n]); } return out.map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`)).join(','); };

const names = fs.readdirSync(path.join(here, 'recorded')).map(f => f.slice(0, -5)).filter(n => n.includes(only));
const replayed = names.filter(n => !expected[n]?.skipped);

async function replay(setup, scenarios) {
  const folder = temporaryFolder('golden');
  for (const n of scenarios) fs.symlinkSync(path.join(here, 'recorded', n + '.json'), path.join(folder, n + '.json'));
  const server = await startServer({ port: 8283, args: setup.args, env: setup.env });
  const report = path.join(temporaryFolder('golden'), 'report.json');
  try {
    execFileSync(process.execPath, [path.join(here, 'replay.mjs'), '--base', server.base, '--recorded', folder, '--json', report], { stdio: 'ignore', env: { ...process.env, ...setup.client } });
  } catch (e) {
    if (!fs.existsSync(report)) throw e; // differences are an exit status of 1 as well
  }
  await server.stop();
  return JSON.parse(fs.readFileSync(report));
}

const startMock = ([file, ...args]) => startProgram(path.join(here, file), args, null).catch(e => { console.error(`${file} needs port ${args[1]}: ${e.message}`); process.exit(1); });
const mock = await startMock(['mock-llm.mjs', '--port', '9099']);
const report = [];
for (const setup of setups) {
  const scenarios = replayed.filter(n => setup.when(n));
  if (!scenarios.length) continue;
  const own = setup.mock && await startMock(setup.mock);
  report.push(...await replay(setup, scenarios));
  own?.stop();
}
mock.stop();

let wrong = 0, good = 0, known = 0;
for (const n of replayed) {
  const steps = report.filter(r => r.scenario === n);
  const list = expected[n]?.differ ?? [];
  const allowed = new Set(list.flatMap(entry => expand(entry.steps)));
  for (const s of steps) {
    const differs = s.diffs.length > 0;
    if (!differs && !allowed.has(s.step)) good++;
    else if (differs && allowed.has(s.step)) known++;
    else if (differs) { wrong++; console.log(`${n} #${s.step} ${s.path}\n${s.diffs.slice(0, 8).map(d => '    ' + d).join('\n')}`); }
    else if (process.argv.includes('--accept')) { for (const entry of list) entry.steps = ranges(expand(entry.steps).filter(x => x !== s.step)); good++; }
    else { wrong++; console.log(`${n} #${s.step} ${s.path}\n    matches now: take it off expected.json (check.mjs --accept)`); }
  }
}
if (process.argv.includes('--accept')) {
  for (const n of Object.keys(expected)) { if (expected[n].differ) expected[n].differ = expected[n].differ.filter(entry => entry.steps); if (expected[n].differ?.length === 0) delete expected[n]; }
  fs.writeFileSync(expectedFile, '{\n' + Object.keys(expected).sort().map(n => `  ${JSON.stringify(n)}: ${JSON.stringify(expected[n])}`).join(',\n') + '\n}\n');
}
const skipped = names.length - replayed.length;
console.log(`${good} steps as recorded, ${known} differences expected, ${skipped} scenarios not replayed yet, ${wrong} wrong`);
process.exit(wrong ? 1 : 0);
