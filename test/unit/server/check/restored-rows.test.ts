/**
 * Labeling warns, without an invariant, if a write brings back a row that another operation
 * removes.
 */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineContract } from '../../../../src/contract/contract.ts';
import { analyzeColors } from '../../../../src/server/check/analyze-colors.ts';
import type { ColorWarning } from '../../../../src/server/check/color-report.ts';
import { checkColorsAtStartup } from '../../../../src/server/node/startup-color-check.ts';
import { defineService } from '../../../../src/server/service/service.ts';
import { shadow } from '../../../../src/server/service/shadow-operation.ts';
import {
  cell,
  counter,
  log,
  queue,
  register,
  set,
  stock,
  table,
} from '../../../../src/server/service/tables.ts';

const key = z.object({ key: z.enum(['a', 'b']) });
const text = key.extend({ text: z.enum(['x', 'y']) });
type Key = z.infer<typeof key>;
type Text = z.infer<typeof text>;

const contract = defineContract('tasks', {
  create: { access: 'write', args: text, result: z.null() },
  change: { access: 'write', args: text, result: z.null() },
  remove: { access: 'write', args: key, result: z.null() },
});

const FIELDS = {
  title: register<string>(),
  note: register<string>(),
  votes: counter(),
  tags: set<string>(),
  lines: log<string>(),
};
type Field = keyof typeof FIELDS;

interface Variant {
  readonly change?: Field | 'all' | 'own';
  readonly colors?: { readonly change?: 'blue' | 'red'; readonly remove?: 'blue' | 'red' };
  readonly checksRow?: boolean;
}

function createTasks({ change = 'note', colors = {}, checksRow = false }: Variant = {}) {
  return defineService(contract, {
    tables: {
      tasks: table(FIELDS, { removable: true }),
      notes: table({ note: register<string>() }),
    },
    shadowOperations: ({ tasks, notes }) => {
      const row = (a: Key) => tasks.row(a.key);
      const changes: Record<
        string,
        (a: Text) => readonly ReturnType<ReturnType<typeof row>['note']['write']>[]
      > = {
        title: (a) => [row(a).title.write(a.text)],
        note: (a) => [row(a).note.write(a.text)],
        votes: (a) => [row(a).votes.add(1) as never],
        tags: (a) => [row(a).tags.add(a.text) as never],
        lines: (a) => [row(a).lines.append(a.text) as never],
        all: (a) => [row(a).title.write(a.text), row(a).note.write(a.text)],
        own: (a) => [notes.row(a.key).note.write(a.text)],
      };
      return {
        create: shadow((a: Text) => [row(a).title.write(a.text)]),
        change: shadow((a: Text) => changes[change]!(a)),
        remove: shadow((a: Key) => [tasks.remove(a.key)]),
      };
    },
    colors: { create: 'blue', change: colors.change ?? 'blue', remove: colors.remove ?? 'blue' },
    generators: {
      create: (args, context) => context.shadow.create(args, null),
      change: (args, context) =>
        checksRow && !context.tables.tasks.has(args.key) ? null : context.shadow.change(args, null),
      remove: (args, context) => context.shadow.remove(args, null),
    },
  });
}

const getWarnings = (variant?: Variant): readonly ColorWarning[] =>
  analyzeColors(createTasks(variant), { runs: 400 }).warnings.filter(
    (warning) => warning.shadow === 'change',
  );

describe('a write to a row that another operation removes', () => {
  test.each(['note', 'votes', 'tags', 'lines'] as const)(
    'of %s → a warning that names both, and the lost field',
    (change) => {
      const [warning] = getWarnings({ change });
      expect(warning).toMatchObject({
        operation: 'change',
        remover: 'remove',
        table: 'tasks',
        lostFields: ['title'],
      });
      expect(warning?.message).toBe(
        `'change' (blue) writes tasks.${change} while 'remove' (blue) removes the row at another site: ` +
          'the row is back, without tasks.title. Write to a row of its own, in another table, or make both red.',
      );
      const again = analyzeColors(createTasks({ change }), { runs: 1, seed: warning!.seed });
      expect(again.warnings).toHaveLength(1);
    },
  );

  test('one of both is red → the same, since only two red operations see each other', () => {
    expect(getWarnings({ colors: { change: 'red' } })[0]?.message).toMatch(/make 'remove' red\.$/);
    expect(getWarnings({ colors: { remove: 'red' } })[0]?.message).toMatch(/make 'change' red\.$/);
  });

  test('it writes all that the row has, but not if it finds no row → the same', () => {
    expect(getWarnings({ change: 'all', checksRow: true })[0]?.message).toMatch(
      /the row is back, although it would not have been made\./,
    );
  });

  test('both are red → no warning', () => {
    expect(getWarnings({ colors: { change: 'red', remove: 'red' } })).toEqual([]);
  });

  test('it makes the whole row anew, as its own removal does nothing to it → no warning', () => {
    expect(getWarnings({ change: 'all' })).toEqual([]);
  });

  test('it writes to a row of its own → no warning', () => {
    expect(getWarnings({ change: 'own' })).toEqual([]);
  });
});

test('the check at the start warns too, and starts the service', () => {
  const messages: string[] = [];
  const source = { source: 'service', skipFlag: '--no-check' };
  checkColorsAtStartup({ service: createTasks(), messages: source }, (message) =>
    messages.push(message),
  );
  expect(messages.join('\n')).toMatch(
    /'change' \(blue\) writes tasks\.note while 'remove'.*Run correctables label/,
  );
});

test('a row with fields of the red order: a blue write beside its red removal → a warning', () => {
  const service = defineService(contract, {
    tables: {
      tasks: table(
        { title: register<string>(), seat: cell<string>(), left: stock(), line: queue<string>() },
        { removable: true },
      ),
    },
    shadowOperations: ({ tasks }) => ({
      create: shadow((a: Text) => [
        tasks.row(a.key).seat.assign(a.text),
        tasks.row(a.key).left.add(2),
        tasks.row(a.key).line.push('x'),
      ]),
      change: shadow((a: Text) => [tasks.row(a.key).title.write(a.text)]),
      remove: shadow((a: Key) => [tasks.remove(a.key)]),
    }),
    colors: { create: 'red', change: 'blue', remove: 'red' },
    generators: {
      create: (args, context) => context.shadow.create(args, null),
      change: (args, context) => context.shadow.change(args, null),
      remove: (args, context) => context.shadow.remove(args, null),
    },
  });
  const { warnings } = analyzeColors(service, { runs: 400 });
  expect(warnings).toMatchObject([
    { shadow: 'change', remover: 'remove', lostFields: ['left', 'line', 'seat'] },
  ]);
});
