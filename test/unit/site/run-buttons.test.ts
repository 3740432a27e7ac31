/** Which code of a page gets a Run button, and what it runs. */
import { expect, test } from 'vitest';
import { findRunnableParts, type Block } from '../../../site/vitepress/run-buttons.ts';

const ts = (content: string): Block => ({ info: 'ts', content: `${content}\n` });
const text: Block = { info: 'text', content: '1\n' };
const find = (...blocks: readonly Block[]) => findRunnableParts(blocks);

test('blocks of code until an output → one part, with the imports that later blocks use, and without types', () => {
  const first = ts(
    `import { createClient, type View } from 'correctables';\nlet shown: View | undefined;`,
  );
  expect(find(first, ts('console.log(1);'), text, ts('console.log(2 as number);'), text)).toEqual([
    {
      block: 1,
      code: 'import { createClient } from "correctables";\nlet shown;\nconsole.log(1);\n',
    },
    { block: 3, code: 'console.log(2);\n' },
  ]);
});

test.each([
  ['node:fs', `import { readFile } from 'node:fs';`],
  ['an entry for Node', `import {\n  serve,\n} from 'correctables/server';`],
  ['a module for its effects', `import 'fake-indexeddb/auto';`],
])('an import of %s → neither this block nor a later one runs', (_, code) => {
  expect(
    find(ts('console.log(1);'), text, ts(code), text, ts('console.log(3);'), text),
  ).toMatchObject([{ block: 0 }]);
});

test('code that prints nothing, is only checked, or is a file of its own → does not run', () => {
  const others = ['ts check: it needs a cluster', 'ts fragment: shop is yours', 'ts server.ts', ''];
  const blocks = others.map((info) => ({ info, content: 'console.log(1);\n' }));
  expect(find(...blocks, text, ts('const a = 1;'))).toEqual([]);
});
