/** Runs a command of the project's own tools and collects what it printed. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * @param {string} command a tool in node_modules/.bin, or `node`
 * @param {readonly string[]} args
 * @param {{ echo?: boolean }} [options] `echo`: show the output while it comes
 * @returns {Promise<{ code: number, output: string }>}
 */
export function run(command, args, { echo = false } = {}) {
  return new Promise((resolve, reject) => {
    const path = `${root}node_modules/.bin:${process.env.PATH}`;
    const child = spawn(command, args, { cwd: root, env: { ...process.env, PATH: path } });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
        if (echo) process.stdout.write(text);
      });
    }
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code: signal ? 1 : (code ?? 1), output }));
  });
}
