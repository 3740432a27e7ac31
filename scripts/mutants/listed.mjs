/**
 * Lines that must not be broken unseen: each names the rule that it stands for (of docs/spec), and the command that fails
 * without it. A line is given by its text, so that it is found wherever it moves.
 */
const REDBLUE = 'src/server/redblue';
const unit = (file) => ['vitest', 'run', '--project', 'unit', `test/unit/${file}`];
const sim = (profile, options = {}) => {
  const given = JSON.stringify({ world: 'classic', ...options });
  return ['tsx', 'src/testing/simulator/cli.ts', '--jobs', '1', '--runs', '60', '--profile', profile, '--with', given];
};

/** @type {readonly { name: string, rule: string, file: string, line: string, replacement: string, command: string[] }[]} */
export const MUTANTS = [
  {
    name: 'trimming forgets later writes',
    rule: 'redblue R2',
    file: `${REDBLUE}/certifier.ts`,
    line: 'if (this.#lastWrite.get(name) === oldest.stamp) this.#lastWrite.delete(name);',
    replacement: 'this.#lastWrite.delete(name);',
    command: unit('redblue/certifier-memory.test.ts'),
  },
  {
    name: 'snapshots older than the window commit',
    rule: 'redblue R2',
    file: `${REDBLUE}/certifier.ts`,
    line: 'if (read < this.#windowStart || ',
    replacement: 'if (',
    command: unit('redblue/certifier.test.ts'),
  },
  {
    name: 'a write is no reason to reject',
    rule: 'redblue R2',
    file: `${REDBLUE}/certifier.ts`,
    line: '(this.#lastWrite.get(name) ?? 0) > read',
    replacement: 'false',
    command: unit('redblue/certifier.test.ts'),
  },
  {
    name: 'phantoms are not noticed',
    rule: 'redblue R2',
    file: `${REDBLUE}/certifier.ts`,
    line: 'return ranges.some((range) => this.#hasChanged(range, read));',
    replacement: 'return false;',
    command: unit('redblue/certifier.test.ts'),
  },
  {
    name: 'an expired record is void',
    rule: 'redblue R9',
    file: `${REDBLUE}/certifier.ts`,
    line: "return { kind: this.#endings.get(record.id) === EXPIRED ? 'expired' : 'void' };",
    replacement: "return { kind: 'void' };",
    command: unit('redblue/certifier-memory.test.ts'),
  },
  {
    name: 'stamps do not follow the clock of the proposer',
    rule: 'redblue R3',
    file: `${REDBLUE}/certifier.ts`,
    line: 'const stamp = Math.max(this.#lastStamp + 1, record.clock);',
    replacement: 'const stamp = this.#lastStamp + 1;',
    command: unit('redblue/certifier.test.ts'),
  },
  {
    name: 'an identifier commits twice',
    rule: 'redblue R9',
    file: `${REDBLUE}/certifier.ts`,
    line: 'return this.#endings.get(id) !== undefined;',
    replacement: 'return false;',
    command: unit('redblue/certifier.test.ts'),
  },
  {
    name: 'written fields do not count as read',
    rule: 'redblue R1',
    file: `${REDBLUE}/certified-reads.ts`,
    line: 'names.push(fieldName(table, key, field));',
    replacement: 'names.push();',
    command: sim('calm', { world: 'generated' }),
  },
  {
    name: 'acknowledged answers are never forgotten',
    rule: 'exactly-once 7',
    file: `${REDBLUE}/red-path.ts`,
    line: 'if (acknowledged !== undefined && acknowledged > 0) this.#answers.expire(clientOf(id), acknowledged);',
    replacement: '',
    command: unit('redblue/red-answers.test.ts'),
  },
  {
    name: 'a strong read waits for nothing',
    rule: 'redblue S1',
    file: `${REDBLUE}/red-path.ts`,
    line: 'coverage.when(submission.after, {',
    replacement: 'coverage.when(undefined, {',
    command: unit('redblue/strong-sessions.test.ts'),
  },
  {
    name: 'the gate stands open',
    rule: 'redblue R4',
    file: `${REDBLUE}/red-path.ts`,
    line: 'return isCovered(record.snapshot, state.stable, options.sites.length);',
    replacement: 'return isCovered(record.snapshot, state.stable, options.sites.length) || true;',
    command: sim('partitions'),
  },
  {
    name: 'answered when the log delivers, before the gate',
    rule: 'redblue R5',
    file: `${REDBLUE}/red-path.ts`,
    line: 'this.#gate.push({ record, decision: this.certifier.decide(record) });',
    replacement: `const decision = this.certifier.decide(record);
    this.#gate.push({ record, decision });
    const request = this.#requests.get(record.id);
    if (decision.kind !== 'commit' || request === undefined || (record as { args?: unknown }).args !== undefined) return;
    const { reply } = record as RedOperation;
    for (const asker of request.askers.splice(0)) this.#host.answer(asker, 'strong', reply);`,
    command: sim('lossy'),
  },
  {
    name: 'a record need not be at a second site',
    rule: 'redblue R8',
    file: `${REDBLUE}/red-path.ts`,
    line: 'if (applied <= durable) this.#propose(record);',
    replacement: 'if (applied <= durable || true) this.#propose(record);',
    command: unit('redblue/exactly-once.test.ts'),
  },
  {
    name: 'CONFLICT without a record',
    rule: 'redblue R6',
    file: `${REDBLUE}/red-path.ts`,
    line: 'else this.close(request);',
    replacement: 'else this.end(request.id, conflictError(request.attempt));',
    command: unit('redblue/exactly-once.test.ts'),
  },
  {
    name: 'sessions are not waited for',
    rule: 'redblue S1',
    file: `${REDBLUE}/coverage.ts`,
    line: 'if (vector === undefined || this.has(vector)) waiting.run();',
    replacement: 'if (vector === undefined || this.has(vector) || true) waiting.run();',
    command: unit('redblue/exactly-once.test.ts'),
  },
  {
    name: 'wild stamps are taken',
    rule: 'redblue Q1',
    file: `${REDBLUE}/replica.ts`,
    line: 'return this.#quarantine.accepts(peer, stamp, this.nowMs);',
    replacement: 'return this.#quarantine.accepts(peer, stamp, this.nowMs) || true;',
    command: unit('redblue/exactly-once.test.ts'),
  },
  {
    name: 'blue operations are visible before their causes',
    rule: 'redblue B3',
    file: `${REDBLUE}/blue-path.ts`,
    line: 'return isCovered(operation.vector, this.core.state.stable, site);',
    replacement: 'return isCovered(operation.vector, this.core.state.stable, site) || true;',
    command: sim('lossy'),
  },
  {
    name: 'operations are applied again when they come again',
    rule: 'redblue B2',
    file: `${REDBLUE}/blue-path.ts`,
    line: 'if (operation.sequence <= stream.received || origin === this.core.options.site) continue;',
    replacement: 'if (origin === this.core.options.site) continue;',
    command: sim('lossy'),
  },
  {
    name: 'blue stamps do not rise above what they have seen',
    rule: 'redblue B4',
    file: `${REDBLUE}/blue-path.ts`,
    line: 'vector[site] = clock.next(nowMs, maxEntry(vector));',
    replacement: 'vector[site] = clock.next(nowMs, 0);',
    command: sim('calm', { skewMaxMs: 500 }),
  },
  {
    name: 'what another site lacks is not passed on',
    rule: 'redblue P1',
    file: `${REDBLUE}/blue-path.ts`,
    line: 'if (origin === options.site || received >= sequence) continue;',
    replacement: 'if (origin === options.site || received >= sequence || origin !== from) continue;',
    command: unit('redblue/exactly-once.test.ts'),
  },
  {
    name: 'the leader takes proposals of a site that has restarted since',
    rule: 'redblue L3',
    file: 'src/server/log/sequenced-log.ts',
    line: 'if (progress !== undefined && epoch < progress.epoch) return;',
    replacement: '',
    command: unit('redblue/log-epochs.test.ts'),
  },
  {
    name: 'writes do not wait for the disk',
    rule: 'storage S1',
    file: 'src/server/storage/node-files.ts',
    line: 'const FLAGS = O_CREAT | O_EXCL | O_RDWR | (HAS_DSYNC ? O_DSYNC : 0);',
    replacement: 'const FLAGS = O_CREAT | O_EXCL | O_RDWR;',
    command: unit('storage/synced-files.test.ts'),
  },
  {
    name: 'a site confirms what it has not synced',
    rule: 'redblue B2',
    file: `${REDBLUE}/blue-path.ts`,
    line: 'sequence: this.#stream(site).synced });',
    replacement: 'sequence: this.#stream(site).received });',
    command: sim('loss', { syncMeanMs: 100, crashEveryMs: 300 }),
  },
];
