// Starts the real binary for a test, on a free port and a data folder of its own, and stops or kills it.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const binary = process.env.TROUPE_BINARY ?? path.resolve(import.meta.dirname, '../../build/debug/troupe');

process.setMaxListeners(0); // every server and folder waits for the end of this process

export const sleep = ms => new Promise(done => setTimeout(done, ms));

// Asks again until the answer is as wanted; only a broken server reaches the deadline.
export async function eventually(ask, wanted) {
  const deadline = Date.now() + 20_000;
  for (;;) {
    const answer = await ask();
    if (wanted(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`not in time: ${JSON.stringify(answer)}`);
    await sleep(20);
  }
}

// A folder that goes away with the process.
export function temporaryFolder(name = 'troupe') {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `${name}-`));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// Only what a server needs of this environment: keys and addresses of the person who runs the tests stay out.
export const plainEnvironment = () => ({ PATH: process.env.PATH, HOME: process.env.HOME ?? '/tmp', ASAN_OPTIONS: process.env.ASAN_OPTIONS ?? '', UBSAN_OPTIONS: process.env.UBSAN_OPTIONS ?? 'print_stacktrace=1', TSAN_OPTIONS: process.env.TSAN_OPTIONS ?? '' });

// Gives {base, port, data, output(), stop(), kill(), exited}. Fails with what the server printed where it does not come up.
export async function startServer({ args = [], env = {}, data = temporaryFolder(), port = 0 } = {}) {
  const child = spawn(binary, ['serve', '--port', String(port), '--data', data, ...args], { env: { ...plainEnvironment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  const exited = new Promise(done => child.on('exit', (code, signal) => done({ code, signal })));
  const up = new Promise((ok, no) => {
    const hear = bytes => {
      text += bytes;
      const found = text.match(/listens on (https?:\/\/\S+:(\d+)),/);
      if (found) ok({ base: found[1], port: +found[2] });
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    exited.then(({ code, signal }) => no(new Error(`the server did not start (${code ?? signal}): ${text}`)));
  });
  const stopHere = () => child.kill('SIGKILL');
  process.on('exit', stopHere);
  const { base, port: bound } = await up;
  const end = signal => { child.kill(signal); return exited.finally(() => process.off('exit', stopHere)); };
  return { base, port: bound, data, pid: child.pid, exited, output: () => text, stop: () => end('SIGTERM'), kill: () => end('SIGKILL') };
}

// Starts another program of the tests and waits for a line of its output.
export async function startProgram(file, args, line, env = {}) {
  const child = spawn(process.execPath, [file, ...args], { env: { ...plainEnvironment(), ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  process.on('exit', () => child.kill('SIGKILL'));
  let text = '';
  await new Promise((ok, no) => {
    child.stdout.on('data', bytes => { text += bytes; if (!line || line.test(text)) ok(); });
    child.on('exit', code => no(new Error(`${file} ended (${code}): ${text}`)));
  });
  return { child, output: () => text, stop: () => { child.removeAllListeners('exit'); child.kill('SIGKILL'); } };
}

// One request; gives {status, headers, text, json}.
export async function call(base, method, target, body, headers = {}) {
  const init = { method, headers: { 'x-stainless-package-version': '1.12.1', ...headers } };
  if (body !== undefined) { init.body = typeof body === 'string' ? body : JSON.stringify(body); init.headers['content-type'] ??= 'application/json'; }
  const answer = await fetch(base + target, init);
  const text = await answer.text();
  let json;
  try { json = JSON.parse(text); } catch { /* not every answer is JSON */ }
  return { status: answer.status, headers: answer.headers, text, json };
}
