/**
 * The four files of docs/redblue/tutorial.md run together: the client prints what the page shows.
 */
import { expect, test } from 'vitest';
import { output } from './bundle.ts';
import { readPage } from './guide.ts';

test('tutorial: contract, service, tokens and client → print what the page shows', async () => {
  const { files, printed } = await readPage('redblue/tutorial');
  const names = ['contract.ts', 'service.ts', 'auth.ts', 'client.ts'];
  const [contract = '', service = '', auth = '', client = ''] = names.map((name) =>
    files.get(name)?.replace(/^import .* from '\.\/.*';\n/gm, ''),
  );
  const start = `
    import { serve } from 'correctables/server';
    const running = await serve({ service, authenticate, sites: ['ireland', 'frankfurt', 'virginia'], latency: 'eu-us' });
    process.env['SHOP_URL'] = running.url.replace('http', 'ws');
  `;
  expect(printed).not.toBe('');
  expect(
    await output(
      `${contract}${service}${auth}${start}${client}await running.close();`,
      'tutorial.ts',
    ),
  ).toBe(printed);
});
