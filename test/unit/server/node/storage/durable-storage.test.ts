/** Logs and checkpoints on a virtual disk: groups, files, torn ends, holes, room. */
// @rule STO-5, STO-6, STO-7, STO-9
import { describe, expect, test } from 'vitest';
import { ROWS_DIRECTORY } from '../../../../../src/testing/simulator/disk/site-directory.ts';
import {
  FOLDER,
  numbers,
  SMALL,
  TestSite,
  VirtualMachine,
  virtualStorage,
  write,
} from './virtual-storage.ts';

describe('durable storage: logs', () => {
  test('what comes while a write is in flight → goes into one write together', () => {
    const machine = new VirtualMachine(1);
    const site = machine.start();
    let writes = 0;
    const write = machine.disk.write.bind(machine.disk);
    machine.disk.write = (...args) => {
      writes += 1;
      write(...args);
    };
    site.append('local', 0);
    machine.timeline.run(machine.timeline.nowMs);
    for (const entry of numbers(100, 1)) site.append('local', entry);
    expect(writes).toBe(1);
    machine.run();
    expect({ writes, synced: site.synced.local }).toEqual({ writes: 2, synced: 101 });
  });

  test('few left over from a large group → they wait a turn for what comes then; alone they are written too', () => {
    const machine = new VirtualMachine(1);
    const site = machine.start();
    let writes = 0;
    const write = machine.disk.write.bind(machine.disk);
    machine.disk.write = (item, isMounted, done) => {
      writes += 1;
      const isFirst = writes === 1;
      write(item, isMounted, (...outcome) => {
        done(...outcome);
        if (isFirst) for (const entry of numbers(16, 17)) site.append('local', entry);
      });
      if (isFirst) site.append('local', 16);
    };
    for (const entry of numbers(16)) site.append('local', entry);
    machine.run();
    expect({ writes, synced: site.synced.local }).toEqual({ writes: 2, synced: 33 });
    site.append('local', 33);
    machine.run();
    expect({ writes, synced: site.synced.local }).toEqual({ writes: 3, synced: 34 });
  });

  test('the first file of a start is too small for its first records → earlier files stay until the next file has the start position', () => {
    const ahead = numbers(40).filter((seed) => {
      const machine = new VirtualMachine(
        seed,
        { ...SMALL, segmentBytes: 300 },
        { instantShare: 1 },
      );
      write(machine.start(), machine, 'before');
      machine.disk.crash();
      const site = machine.start();
      const [before] = machine.files('.log');
      for (const entry of numbers(50)) site.append('local', `entry ${entry}`);
      site.storage.checkpoint();
      let isAhead = false;
      for (let untilMs = machine.timeline.nowMs; site.synced.local === 1; untilMs += 1) {
        expect(machine.files('.log')).toContain(before);
        isAhead ||= machine.cut !== undefined;
        machine.timeline.run(untilMs);
      }
      machine.run();
      expect(machine.files('.log')).not.toContain(before);
      return isAhead;
    });
    // The checkpoint was made while the first group was under way.
    expect(ahead.length).toBeGreaterThan(5);
  });

  test('an entry larger than a file → a file of its own size', () => {
    const machine = new VirtualMachine(1, SMALL);
    const site = machine.start();
    const large = 'x'.repeat(5000);
    for (const entry of ['small', large, 'small again']) {
      site.append('local', entry);
      machine.run();
    }
    machine.disk.crash();
    expect(machine.start().entries.local).toEqual(['small', large, 'small again']);
  });

  test('restarts without a word → numbers of starts grow, empty files go', () => {
    const machine = new VirtualMachine(1);
    const epochs: number[] = [];
    for (let start = 0; start < 5; start += 1) {
      epochs.push(machine.start().storage.term);
      machine.run();
      machine.disk.crash();
    }
    expect(epochs).toEqual([1, 2, 3, 4, 5]);
    expect(machine.files('.log')).toHaveLength(1);
  });

  test('a torn end that would fit again after a restart → does not come back', () => {
    const machine = new VirtualMachine(1);
    const first = machine.start();
    for (const entry of ['a1', 'a2', 'a3']) {
      first.append('local', entry);
      machine.run();
    }
    machine.disk.crash();
    const [name] = machine.files('.log');
    const path = `${FOLDER}/${name}`;
    const bytes = machine.disk.read(path);
    const whole = bytes.slice();
    bytes[Buffer.from(bytes).indexOf('a3')] = 0;
    machine.disk.put(path, bytes);
    const second = machine.start();
    expect(second.entries.local).toEqual(['a1', 'a2']);
    second.append('local', 'b3');
    machine.run();
    machine.disk.crash();
    expect(machine.start().entries.local).toEqual(['a1', 'a2', 'b3']);
    // Not even when the disk reads it again after all.
    machine.disk.put(path, whole);
    expect(machine.start().entries.local).toEqual(['a1', 'a2', 'b3']);
  });
});

describe('durable storage: large groups', () => {
  test.each([
    {
      largeGroup: 3,
      given: [3, 2, 3, 1],
      writes: 2,
      why: 'does not wait for the write before it; a third one does',
    },
    { largeGroup: 4, given: [3, 2, 1], writes: 1, why: 'smaller ones wait' },
  ])(
    'groups of $given, large ones of $largeGroup → $why',
    ({ largeGroup, given: value, writes }) => {
      const machine = new VirtualMachine(1, { largeGroup });
      const site = machine.start();
      const begun: (() => void)[] = [];
      const write = machine.disk.write.bind(machine.disk);
      machine.disk.write = (...args) => begun.push(() => write(...args));
      for (const count of value) {
        site.append('local', ...numbers(count, site.entries.local.length));
        machine.run(1);
      }
      expect(begun).toHaveLength(writes);
      machine.disk.write = write;
      for (const go of begun.toReversed()) go();
      machine.run();
      expect(site.synced.local).toBe(site.entries.local.length);
      machine.disk.crash();
      expect(machine.start().entries).toEqual(site.entries);
    },
  );
});

describe('durable storage: checkpoints', () => {
  const OFTEN = { segmentBytes: 1000, checkpointBytes: 1500 };

  test('logs that grow → old files go, the state comes back from checkpoint and rest', () => {
    const machine = new VirtualMachine(1, OFTEN);
    const site = machine.start();
    for (const entry of numbers(200)) {
      site.append(entry % 3 === 0 ? 'red' : 'local', `entry ${entry}`);
      machine.run(50);
    }
    expect(machine.files('.log').length).toBeLessThan(6);
    machine.disk.crash();
    const again = machine.start();
    expect(again.stored.checkpoint).toBeDefined();
    expect(again.entries).toEqual(site.entries);
  });

  test('another site needs old entries → their files stay until it does not', () => {
    const machine = new VirtualMachine(1, OFTEN);
    const site = machine.start();
    site.neededFrom = 0;
    for (const entry of numbers(200)) {
      site.append('local', `entry ${entry}`);
      machine.run(50);
    }
    expect(machine.files('.log').length).toBeGreaterThan(6);
    expect(machine.files('.log')[0]).toBe('0000000001.log');
    site.neededFrom = Infinity;
    site.append('local', 'one more');
    machine.run();
    expect(machine.files('.log').length).toBeLessThan(6);
  });

  test.each([
    ['local', { local: 50, red: Infinity }],
    ['red', { local: Infinity, red: 50 }],
  ] as const)(
    'another site needs old entries of the %s log alone → their files stay, those before go',
    (log, from) => {
      const machine = new VirtualMachine(1, OFTEN);
      const site = machine.start();
      site.neededFrom = 0;
      for (const entry of numbers(200)) {
        site.append(entry % 2 === 0 ? 'red' : 'local', `entry ${entry}`);
        machine.run(50);
      }
      site.neededFrom = from;
      site.storage.checkpoint();
      machine.run();
      const { start, entries } = machine.start().stored[log];
      expect(start).toBeGreaterThan(0);
      expect(start).toBeLessThanOrEqual(50);
      expect(entries).toEqual(site.entries[log].slice(start));
    },
  );

  test('the store is gone, but the logs are there → reported; the next checkpoint has an unused number', () => {
    const machine = new VirtualMachine(1, { checkpointBytes: Infinity });
    const site = machine.start();
    site.neededFrom = 0;
    for (const count of [10, 10]) {
      site.append('local', ...numbers(count, site.entries.local.length));
      machine.run();
      site.storage.checkpoint();
      machine.run();
    }
    // A file of the log that names the checkpoint before it.
    machine.start().append('local', 20);
    machine.run();
    const gone = machine.cut?.number ?? 0;
    machine.disk.crash();
    machine.disk.rows.beginToRemove(ROWS_DIRECTORY);
    const again = machine.start();
    expect(again.entries.local).toEqual(numbers(21));
    expect(again.events).toEqual([expect.stringContaining('damaged: ')]);
    machine.run();
    expect(gone).toBe(2);
    expect(machine.cut?.number).toBe(3);
  });

  test.each(numbers(15, 1))(
    'crash %i ms after a checkpoint of several slices began → the state of one moment',
    (afterMs) => {
      const machine = new VirtualMachine(1, { checkpointBytes: Infinity });
      const site = machine.start();
      for (const count of [2000, 700]) {
        site.append('local', ...numbers(count, site.entries.local.length));
        machine.run();
        site.storage.checkpoint();
        machine.run(count === 2000 ? 10_000 : afterMs);
      }
      machine.disk.crash();
      expect(machine.start().entries.local).toEqual(numbers(2700));
    },
  );

  test('a site that can make no cut → no checkpoint is written; reported once, and tried again', () => {
    class Halted extends TestSite {
      cutProblem: string | undefined = 'the red log has halted';
    }
    const machine = new VirtualMachine(1);
    const site = new Halted(machine.timeline, machine.disk, { checkpointBytes: Infinity });
    site.append('local', ...numbers(1000));
    machine.run();
    const names = new Set<string>();
    const write = machine.disk.write.bind(machine.disk);
    machine.disk.write = (item, ...rest) => {
      names.add(item.path);
      write(item, ...rest);
    };
    site.storage.checkpoint();
    machine.run(20_000);
    expect({ names: [...names], events: site.events, cut: machine.cut }).toEqual({
      names: [],
      events: ['checkpoint: the red log has halted'],
      cut: undefined,
    });
    site.cutProblem = undefined;
    machine.run(120_000);
    expect(machine.start().stored.checkpoint).toBeDefined();
  });

  test('a row that cannot be written out → a failed checkpoint, tried again; logs go on', () => {
    const machine = new VirtualMachine(1, { checkpointBytes: Infinity });
    const site = machine.start();
    site.append('local', 'a');
    machine.run();
    const section = site.sections.local;
    const take = section.takeClosed.bind(section);
    section.takeClosed = () => {
      throw new RangeError('Invalid string length');
    };
    site.storage.checkpoint();
    machine.run(100);
    expect(site.events).toEqual(['checkpoint: Invalid string length']);
    section.takeClosed = take;
    machine.run();
    machine.disk.crash();
    expect(machine.start().stored.checkpoint).toBeDefined();
  });

  test('one that fails again and again while entries are written → tried less and less often', () => {
    const machine = new VirtualMachine(1, SMALL);
    const site = machine.start();
    site.neededFrom = 0;
    site.append('local', ...numbers(60));
    machine.run();
    for (let entry = 0; entry < 60; entry += 1) write(site, machine, `entry ${entry}`);
    site.storage.checkpoint();
    machine.run();
    site.neededFrom = Infinity;
    let attempts = 0;
    site.sections.local.takeClosed = () => {
      attempts += 1;
      throw new RangeError('Invalid string length');
    };
    for (let entry = 0; entry < 400; entry += 1) write(site, machine, `later ${entry}`);
    expect(attempts).toBeGreaterThan(1);
    expect(attempts).toBeLessThan(10);
    expect(site.events).toEqual(['checkpoint: Invalid string length']);
  });
});

describe('durable storage: its beginning and its end', () => {
  test('the data found at the start is released once the site has taken it', () => {
    const machine = new VirtualMachine(1);
    const storage = virtualStorage(machine, {});
    expect(storage.stored.local.entries).toEqual([]);
    const places = { local: 0, red: 0 };
    const source = {
      sections: {},
      createCut: () => ({ smallParts: null, contained: places }),
      retainedFrom: places,
    };
    storage.attach(source, { onSynced: () => {}, onFenced: () => {}, onFailed: () => {} });
    expect(() => storage.stored).toThrow('taken up already');
  });

  test('a site that was never begun is closed → no file is left', async () => {
    const machine = new VirtualMachine(1);
    await virtualStorage(machine, {}).close();
    expect(machine.files('.log')).toEqual([]);
  });

  test('a write that fails for another reason → the site is notified that nothing more counts', () => {
    const machine = new VirtualMachine(1);
    const site = machine.start();
    machine.disk.write = (_write, _isMounted, done) => done(new Error('EIO: i/o error'));
    site.append('local', 1);
    machine.run();
    expect(site.events).toEqual(['stopped: EIO: i/o error']);
    expect(site.synced.local).toBe(0);
  });
});

describe('durable storage: memory', () => {
  class FullSite extends TestSite {
    readonly isCheckpointDue = true;
  }

  test('full after a start, so that nothing more is written → a checkpoint, and no more until something is', () => {
    const machine = new VirtualMachine(1);
    machine.start().append('local', 'an entry');
    machine.run();
    machine.disk.crash();
    const site = new FullSite(machine.timeline, machine.disk);
    machine.run();
    expect(machine.cut?.number).toBe(1);
    machine.run();
    expect(machine.cut?.number).toBe(1);
    site.append('local', 'another one');
    machine.run();
    expect(machine.cut?.number).toBe(2);
  });
});
