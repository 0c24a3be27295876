// What the benchmarks measure with: the server and the small programs beside it, loads, and what /proc says.
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '..');
const binary = process.env.TROUPE_BINARY ?? path.join(root, 'build/release/troupe');
const program = name => path.join(path.dirname(binary), 'bench', name);

export const sleep = ms => new Promise(done => setTimeout(done, ms));
export const median = list => [...list].sort((a, b) => a - b)[list.length >> 1];

// All data goes with the process. Beside the binary, because /tmp may be no disk.
export const folder = fs.mkdtempSync(path.join(path.dirname(binary), 'bench-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

// Starts a program that says where it listens. Gives {pid, port, startMs, stop()}; startMs is the time until `GET
// target` was answered.
async function start(file, args, env, heard, target) {
  const began = performance.now();
  const child = spawn(file, args, { env: { PATH: process.env.PATH, HOME: os.homedir(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const kill = () => child.kill('SIGKILL');
  process.on('exit', kill);
  let text = '';
  const exited = new Promise(done => child.once('exit', done));
  const port = await new Promise((ok, no) => {
    const hear = bytes => {
      text += bytes;
      const found = text.match(heard);
      if (found) ok(+found[1]);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    exited.then(() => no(new Error(`${file} did not start: ${text}`)));
  });
  await firstAnswer(port, target);
  const startMs = performance.now() - began;
  return { pid: child.pid, port, startMs, stop: () => { process.off('exit', kill); child.kill('SIGTERM'); return exited; } };
}

function firstAnswer(port, target) {
  return new Promise((ok, no) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(`GET ${target} HTTP/1.1\r\nhost: bench\r\n\r\n`));
    socket.once('data', bytes => { socket.destroy(); /^HTTP\/1.1 200/.test(bytes) ? ok() : no(new Error(`${target}: ${bytes}`)); });
    socket.once('error', no);
  });
}

export const startMock = () => start(program('mock_model'), [], {}, /listens on (\d+)/, '/v1/models');
export const startEcho = () => start(program('floor_echo'), [], {}, /listens on (\d+)/, '/');
export const startServer = mock =>
  start(binary, ['serve', '--port', '0', '--data', path.join(folder, 'data'), '--provider', `bench=http://127.0.0.1:${mock.port}/v1`,
    '--log-level', 'warning', '--stop-timeout', '0'], {}, /listens on https?:\/\/\S+:(\d+)/, '/v1/health/');

const run = async (name, ...args) => JSON.parse((await promisify(execFile)(program(name), args.map(String), { maxBuffer: 1 << 26 })).stdout);

// How many records and bytes the store holds.
export const storeSize = () => run('floor_lmdb', 'size', path.join(folder, 'data'));

export async function lmdbFloor(records, bytes) {
  const at = fs.mkdtempSync(path.join(folder, 'lmdb-'));
  const figures = await run('floor_lmdb', 'commit', at, records, bytes);
  fs.rmSync(at, { recursive: true });
  return figures;
}

let loads = 0;
// Sends `count` requests of `lines` (METHOD TARGET BODY); a failed one ends the benchmark. Times in µs.
export async function load(port, lines, { connections = 1, count = lines.length, groups = 1, mark = '' } = {}) {
  const file = path.join(folder, `requests-${++loads}`);
  fs.writeFileSync(file, lines.join('\n') + '\n');
  const figures = await run('load', port, connections, count, file, groups, mark);
  fs.rmSync(file);
  if (figures.failed) throw new Error(`${figures.failed} of ${count} requests failed: ${lines[0]}`);
  return { rate: figures.rate, ...figures.whole[0], groups: figures.whole, mark: figures.mark };
}

// Opens one stream a line, 16 at a time, and keeps it open until all of them have shown `mark`; then calls `use`.
export async function holdStreams(port, lines, mark, use) {
  const sockets = [];
  const open = line => new Promise((ok, no) => {
    const [, method, target, body] = line.match(/^(\S+) (\S+) (.*)$/);
    let text = '';
    const socket = net.connect(port, '127.0.0.1', () => socket.write(
      `${method} ${target} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`));
    socket.setTimeout(60_000, () => socket.destroy(new Error(`no token within a minute: ${text}`)));
    socket.on('data', bytes => { text += bytes; if (text.includes(mark)) ok(socket); });
    socket.on('error', no);
    socket.on('close', () => no(new Error(`the stream ended: ${text}`)));
  });
  const left = lines.values();
  await Promise.all(Array.from({ length: 16 }, async () => { for (const line of left) sockets.push(await open(line)); }));
  const value = await use();
  for (const s of sockets) s.destroy();
  return value;
}

// -- what /proc says ------------------------------------------------------------------------------
const status = (pid, name) => +fs.readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm'))[1] * 1024;
export const resident = pid => status(pid, 'VmRSS');
export const anonymous = pid => status(pid, 'RssAnon'); // without the pages of files, as the store's
// CPU time in µs of all threads.
export const cpuTime = pid =>
  fs.readdirSync(`/proc/${pid}/task`).reduce((sum, t) => sum + +fs.readFileSync(`/proc/${pid}/task/${t}/schedstat`, 'utf8').split(' ')[0] / 1e3, 0);
