/**
 * Files that are lost, damaged or old: either all that was synced comes back, or there is no start.
 */
// @rule STO-16, STO-17, STO-26
import { describe, expect, test } from 'vitest';
import { ROWS_DIRECTORY } from '../../../../../../src/testing/simulator/disk/site-directory.ts';
import { FOLDER, VirtualMachine } from '../virtual-storage.ts';
import type { TestSite } from '../virtual-storage.ts';

const SIZES = { segmentBytes: 1000, checkpointBytes: Infinity };

/** Entries one by one, each in a frame of its own; only those count that are synced. */
function write(machine: VirtualMachine, site: TestSite, count: number): void {
  for (let written = 0; written < count; written += 1) {
    site.append('local', `entry ${site.entries.local.length}`);
    machine.run(100);
  }
}

/** Entries, and two checkpoints with more entries behind each. */
function fill(): { readonly machine: VirtualMachine; readonly entries: readonly unknown[] } {
  const machine = new VirtualMachine(1, SIZES);
  const site = machine.start();
  write(machine, site, 60);
  for (let commit = 0; commit < 2; commit += 1) {
    site.storage.checkpoint();
    machine.run();
    write(machine, site, 60);
  }
  machine.disk.crash();
  return { machine, entries: site.entries.local };
}

/** Entries and a checkpoint of all of them; other sites need those from `neededFrom` on. */
function fillFor(neededFrom: number): {
  readonly machine: VirtualMachine;
  readonly site: TestSite;
} {
  const machine = new VirtualMachine(1, SIZES);
  const site = machine.start();
  site.neededFrom = neededFrom;
  write(machine, site, 60);
  site.storage.checkpoint();
  machine.run();
  return { machine, site };
}

const pathOf = (name: string | undefined): string => `${FOLDER}/${name}`;

function flip(machine: VirtualMachine, name: string | undefined, at: number): void {
  const bytes = machine.disk.read(pathOf(name));
  const place = at < 0 ? bytes.length + at : at;
  bytes[place] = (bytes[place] as number) ^ 1;
  machine.disk.put(pathOf(name), bytes);
}

/** What is refused, and how. */
const rejection = (description: RegExp): unknown =>
  expect.objectContaining({
    code: 'UNAVAILABLE',
    retryable: false,
    message: expect.stringMatching(description),
  });

describe('the store of rows', () => {
  /** Replaces the entries of the store. */
  function change(machine: VirtualMachine, run: (entries: Map<string, Uint8Array>) => void): void {
    const { files, rows } = machine.disk.copyContent();
    const entries = new Map(rows.get(ROWS_DIRECTORY));
    run(entries);
    machine.disk.putContent({ files, rows: new Map([[ROWS_DIRECTORY, entries]]) });
  }

  test('lost with all that it has → the start fails, and the error says so', () => {
    const { machine } = fill();
    change(machine, (entries) => entries.clear());
    expect(() => machine.start()).toThrow(
      rejection(/local log begins at entry \d+, and there are no rows/),
    );
  });

  test('lost, and the logs have everything → starts, and reports the loss', () => {
    const { machine, site } = fillFor(0);
    write(machine, site, 60);
    machine.disk.crash();
    change(machine, (entries) => entries.clear());
    const again = machine.start();
    expect(again.entries.local).toEqual(site.entries.local);
    expect(again.events).toEqual([
      expect.stringMatching(/^damaged: commit 1 is gone: site\/rows has none.* Nothing is lost/),
    ]);
    machine.run();
    machine.disk.crash();
    expect(machine.start().events).toEqual([]);
  });

  test('as it was before the last commit, and the logs lack what came between → no start', () => {
    const machine = new VirtualMachine(1, SIZES);
    const site = machine.start();
    write(machine, site, 60);
    site.storage.checkpoint();
    machine.run();
    const { rows } = machine.disk.copyContent();
    write(machine, site, 60);
    site.storage.checkpoint();
    machine.run();
    write(machine, site, 1);
    machine.disk.crash();
    machine.disk.putContent({ ...machine.disk.copyContent(), rows });
    expect(() => machine.start()).toThrow(
      rejection(/begins at entry \d+, and the rows are those at entry 60/),
    );
  });

  test('each entry lost, or with one bit flipped → no start', () => {
    const { machine } = fill();
    const whole = machine.disk.copyContent();
    const names = [...(whole.rows.get(ROWS_DIRECTORY) ?? new Map<string, never>()).keys()];
    expect(names.length).toBeGreaterThan(100);
    const spoil = (run: (entries: Map<string, Uint8Array>) => void): void => {
      machine.disk.putContent(whole);
      change(machine, run);
      expect(() => machine.start()).toThrow(rejection(/site\/rows: |there are no rows/));
    };
    for (const name of names) {
      spoil((entries) => void entries.delete(name));
      spoil((entries) => {
        const bytes = Buffer.from(entries.get(name) as Uint8Array);
        bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
        entries.set(name, bytes);
      });
    }
  });
});

describe('a log file', () => {
  test('the last ones lost, of which the checkpoint has entries → no start', () => {
    const { machine } = fillFor(0);
    machine.disk.crash();
    for (const name of machine.files('.log').slice(1)) machine.disk.remove(pathOf(name));
    expect(() => machine.start()).toThrow(
      rejection(/local log ends at entry \d+, and the rows are those at 60/),
    );
  });

  test('one lost between two others → the start fails, and the error names the missing entries', () => {
    const machine = new VirtualMachine(1, SIZES);
    write(machine, machine.start(), 120);
    machine.disk.crash();
    machine.disk.remove(pathOf(machine.files('.log')[1]));
    expect(() => machine.start()).toThrow(
      rejection(/entries \d+ to \d+ of the local log are missing before .*\.log/),
    );
  });

  test('one lost that the checkpoint contains and other sites need → no start', () => {
    const { machine } = fillFor(10);
    machine.disk.crash();
    machine.disk.remove(pathOf(machine.files('.log')[0]));
    const retained = /begins at entry \d+, and those from 10 on are kept for other sites/;
    expect(() => machine.start()).toThrow(rejection(retained));
  });

  /**
   * The log files before a checkpoint, and the machine after a crash while most of them are
   * removed.
   */
  function removing(neededFrom: number): {
    readonly machine: VirtualMachine;
    readonly before: Map<string, Uint8Array>;
  } {
    const machine = new VirtualMachine(1, SIZES);
    const site = machine.start();
    site.neededFrom = neededFrom;
    write(machine, site, 180);
    const before = new Map(
      machine.files('.log').map((name) => [name, machine.disk.read(pathOf(name))]),
    );
    site.storage.checkpoint();
    machine.run();
    machine.disk.crash();
    return { machine, before };
  }

  test.each([0, 1])(
    'removed while an older one (%i) was not yet → all comes back, and that one goes',
    (which) => {
      const { machine, before } = removing(Infinity);
      const [name, bytes] = [...before][which] as [string, Uint8Array];
      expect(machine.files('.log').length).toBeLessThan(before.size - 2);
      machine.disk.put(pathOf(name), bytes);
      const again = machine.start();
      expect(again.entries.local).toHaveLength(180);
      expect(again.events).toEqual([]);
      machine.run();
      expect(machine.files('.log')).not.toContain(name);
    },
  );

  test('one lost between two others, of which other sites need entries → no start, a checkpoint or not', () => {
    const { machine, before } = removing(10);
    const [, second, third] = before.keys();
    machine.disk.remove(pathOf(second));
    machine.disk.remove(pathOf(third));
    expect(() => machine.start()).toThrow(
      rejection(/entries \d+ to \d+ of the local log are missing before/),
    );
  });

  /** One file with ten frames of entries, and where each of them begins. */
  function tenFrames(): {
    readonly machine: VirtualMachine;
    readonly name: string;
    readonly starts: readonly number[];
  } {
    const machine = new VirtualMachine(1, { checkpointBytes: Infinity, segmentBytes: 10_000 });
    write(machine, machine.start(), 10);
    machine.disk.crash();
    const name = machine.files('.log')[0] as string;
    const bytes = Buffer.from(machine.disk.read(pathOf(name)));
    const starts: number[] = [];
    for (let at = 0; bytes.readUInt32LE(at) > 0; at += 16 + bytes.readUInt32LE(at)) starts.push(at);
    return { machine, name, starts };
  }

  test.each([0, 1, 5, 9])(
    'frame %i of 0 to 10 damaged → the start fails; the error names what can still be read',
    (frame) => {
      const { machine, name, starts } = tenFrames();
      flip(machine, name, (starts[frame] as number) + 17);
      const behind = 10 - frame;
      const message = new RegExp(
        `damaged at byte ${starts[frame]}: 1 groups .* behind them ${behind} entries of the local`,
      );
      expect(() => machine.start()).toThrow(rejection(message));
    },
  );

  test('the last frame damaged → taken for torn, which it may be', () => {
    const { machine, name, starts } = tenFrames();
    flip(machine, name, (starts[10] as number) + 17);
    expect(machine.start().entries.local).toHaveLength(9);
  });

  test('torn, with a whole one behind that was in flight with it → cut, no refusal', () => {
    const machine = new VirtualMachine(1, { checkpointBytes: Infinity, largeGroup: 1 });
    const site = machine.start();
    write(machine, site, 3);
    const begun: (() => void)[] = [];
    const pass = machine.disk.write.bind(machine.disk);
    machine.disk.write = (...args) => begun.push(() => pass(...args));
    site.append('local', 'torn');
    machine.run(1);
    site.append('local', 'whole');
    machine.run(1);
    expect(begun).toHaveLength(2);
    begun[1]?.();
    machine.disk.write = pass;
    machine.run();
    machine.disk.crash();
    expect(machine.start().entries.local).toEqual(['entry 0', 'entry 1', 'entry 2']);
  });

  test('the file of an earlier start damaged behind what counted → starts', () => {
    const { machine, name, starts } = tenFrames();
    flip(machine, name, (starts[10] as number) + 17);
    write(machine, machine.start(), 1);
    machine.disk.crash();
    flip(machine, name, (starts[10] as number) + 17);
    expect(machine.start().entries.local).toHaveLength(10);
  });
});
