// Runs a program to its end, as somebody at a terminal would.
import { spawn } from 'node:child_process';
import { plainEnvironment } from './server.mjs';

// Gives {code, signal, out, err}. One that goes on and on, such as a server that should have refused to start, is killed.
export function run(command, args, { input = '', env = {} } = {}) {
  const child = spawn(command, args, { env: { ...plainEnvironment(), ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  let out = '', err = '';
  child.stdout.on('data', d => { out += d; });
  child.stderr.on('data', d => { err += d; });
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const patience = setTimeout(() => child.kill('SIGKILL'), 15_000);
  return new Promise(done => child.on('close', (code, signal) => { clearTimeout(patience); done({ code, signal, out, err }); }));
}
