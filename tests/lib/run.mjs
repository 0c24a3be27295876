// Runs another program to its end, beside a server that is awake meanwhile. Gives {code, stdout, stderr}.
import { spawn } from 'node:child_process';

export async function run(program, args, { env = {}, cwd, seconds = 120 } = {}) {
  const child = spawn(program, args, { cwd, env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'], timeout: seconds * 1000, killSignal: 'SIGKILL' });
  const out = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', text => { out[name] += text; });
  return new Promise((ok, no) => { child.on('error', no); child.on('close', (code, signal) => ok({ code: code ?? signal, ...out })); });
}
