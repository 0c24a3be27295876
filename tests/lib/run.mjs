// Runs another program to its end, beside a server that is awake meanwhile.
import { spawn } from 'node:child_process';
import { plainEnvironment } from './server.mjs';

// Gives {code, signal, out, err}. One that goes on and on, such as a server that should have refused to start, is killed.
export async function run(program, args, { input = '', env = {}, cwd, seconds = 120 } = {}) {
  const child = spawn(program, args, { cwd, env: { ...plainEnvironment(), ...env }, stdio: ['pipe', 'pipe', 'pipe'], timeout: seconds * 1000, killSignal: 'SIGKILL' });
  const got = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', text => { got.out += text; });
  child.stderr.setEncoding('utf8').on('data', text => { got.err += text; });
  child.stdin.on('error', () => {}); // of one that does not read
  child.stdin.end(input);
  return new Promise((ok, no) => { child.on('error', no); child.on('close', (code, signal) => ok({ code, signal, ...got })); });
}
