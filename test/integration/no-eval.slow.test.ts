/** In a process that may not make code of texts: every entry loads, and a service is served. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { root } from '../support/run-program.ts';

const SERVICE = `
  import { createClient } from 'correctables';
  import { redblue } from 'correctables/bindings/redblue';
  import { defineContract } from 'correctables/contract';
  import { blue, counter, defineService, serve, table } from 'correctables/server';
  import * as z from 'zod';
  const contract = defineContract('c', {
    add: { access: 'write', args: z.object({ n: z.int() }), result: z.object({ n: z.int() }) },
  });
  const service = defineService(contract, {
    tables: { rows: table({ n: counter() }) },
    shadowOperations: ({ rows }) => ({ add: blue((a) => [rows.row('r').n.add(a.n)]) }),
    generators: { add: (args, { shadow }) => shadow.add(args, args) },
  });
  const server = await serve({ service, sites: ['ireland'], port: 0 });
  const client = createClient(redblue(contract, { url: server.siteUrl('ireland') }));
  console.log(JSON.stringify(await client.invoke(contract.add({ n: 3 }))));
  await client.close();
  await server.close();
`;

async function run(script: string): Promise<string> {
  const args = ['--disallow-code-generation-from-strings', '--input-type=module', '--eval', script];
  return (await promisify(execFile)(process.execPath, args, { cwd: root })).stdout.trim();
}

test('no code from text: every entry → loads', async () => {
  const entries = Object.keys(manifest.exports).filter((subpath) => subpath !== './package.json');
  const imports = entries.map(
    (subpath) => `await import('${subpath.replace('.', manifest.name)}');`,
  );
  expect(await run(`${imports.join('\n')} console.log('loaded');`)).toBe('loaded');
});

test('no code from text: a service → is served', async () => {
  expect(await run(SERVICE)).toBe('{"n":3}');
});
