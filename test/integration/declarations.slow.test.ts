/**
 * What an application exports of the built package, with its types inferred: declarations can name
 * each type.
 */
import { cp, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { root } from '../support/run-program.ts';

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.NodeNext,
  strict: true,
  declaration: true,
  emitDeclarationOnly: true,
  // A type that only files inside of the package can name is one that the application cannot.
  preserveSymlinks: true,
  skipLibCheck: true,
  lib: [
    'lib.es2022.d.ts',
    'lib.esnext.disposable.d.ts',
    'lib.dom.d.ts',
    'lib.dom.asynciterable.d.ts',
  ],
  types: ['node'],
};

test('declarations: emitted for what an application exports of the whole public API', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'correctables-declarations-')));
  try {
    const modules = join(folder, 'node_modules');
    await cp(join(root, 'dist'), join(modules, 'correctables/dist'), { recursive: true });
    await cp(join(root, 'package.json'), join(modules, 'correctables/package.json'));
    for (const name of ['zod', 'rxjs', '@types', 'cassandra-driver', 'classic-level', 'vitest']) {
      await symlink(join(root, 'node_modules', name), join(modules, name));
    }
    const file = join(folder, 'exported.mts');
    await cp(join(root, 'scripts/smoke-package/inferred-exports.ts'), file);
    const program = ts.createProgram([file], OPTIONS);
    const emitted: string[] = [];
    const { diagnostics } = program.emit(undefined, (name) => emitted.push(name));
    const problems = [
      ...program.getSemanticDiagnostics(program.getSourceFile(file)),
      ...diagnostics,
    ];
    expect(
      problems.map(({ start = 0, messageText, file: at }) => {
        const line = (at?.getLineAndCharacterOfPosition(start).line ?? 0) + 1;
        return `${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
      }),
    ).toEqual([]);
    expect(emitted).toEqual([file.replace(/\.mts$/, '.d.mts')]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
