/** Of rights to bounded fields (docs/spec/rights.md). */
import { unit } from './commands.mjs';

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const RIGHTS_MUTANTS = [
  {
    name: 'a blue take draws on its site whoever has ordered it',
    rule: 'rights R-2',
    file: 'src/server/service/fields/bounded.ts',
    line: 'return this.#ledger.take(entry, value as number);',
    replacement: 'return this.#ledger.take(site, value as number);',
    command: unit('server/service/fields/bounded.test.ts'),
  },
  {
    name: 'own takes in flight are not deducted',
    rule: 'rights R-3',
    file: 'src/server/replica/rights/rights.ts',
    line: 'return ledger.isClosed(options.site) ? 0 : held - this.#inFlight.of(name);',
    replacement: 'return ledger.isClosed(options.site) ? 0 : held;',
    command: unit('server/replica/rights/rights.test.ts'),
  },
  {
    name: 'a question that comes again is answered again',
    rule: 'rights R-8',
    file: 'src/server/replica/rights/rights.ts',
    line: 'if ((this.#answered.get(name) ?? 0) > seen) continue;',
    replacement: '',
    command: unit('server/replica/rights/rights.test.ts'),
  },
  {
    name: 'a closed incarnation may take',
    rule: 'rights R-11',
    file: 'src/server/service/fields/ledger.ts',
    line: 'ledger.isClosed(site) ? 0 : ledger.at(site)',
    replacement: 'ledger.at(site)',
    command: unit('server/service/fields/bounded.test.ts'),
  },
  {
    name: 'labelling takes without rights',
    rule: 'rights R-14',
    file: 'src/server/label/rights.ts',
    line: '(state.read(table, key, field) as Ledger).left >= amount,',
    replacement: '(state.read(table, key, field) as Ledger).left > -amount,',
    command: unit('server/label/label-rights.test.ts'),
  },
  {
    name: 'labelling gives the second site what the first one holds',
    rule: 'rights R-14',
    file: 'src/server/label/site.ts',
    line: 'return isLeftFor([...this.#reserved, ...effects], this.#workshop.judged.tables, this.store);',
    replacement: 'return isLeftFor(effects, this.#workshop.judged.tables, this.store);',
    command: unit('server/label/label-rights.test.ts'),
  },
];
