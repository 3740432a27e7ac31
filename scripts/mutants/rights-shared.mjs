/** Of rights: what is shared, asked for, gathered and given back, and for whom (docs/spec/rights.md). */
import { mutantsIn } from './commands.mjs';

const ofRights = mutantsIn('rights', 'server');

const RIGHTS = 'replica/rights/rights';

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const RIGHTS_SHARED_MUTANTS = [
  ofRights('R-4', 'who takes of two fields goes red for one of them', 'replica/rights/rights-of-several', {
    file: RIGHTS,
    line: 'if (needs.every((need) => need.amount <= this.poolOf(need, overlay))) {',
    replacement: 'if (needs.some((need) => need.amount <= this.poolOf(need, overlay))) {',
  }),
  ofRights('R-6', 'a red take of two fields draws on the pool of one', 'replica/rights/rights-of-several', {
    file: RIGHTS,
    line: 'return needs.every((need) => need.amount <= this.poolOf(need, state)) ?',
    replacement: 'return needs.some((need) => need.amount <= this.poolOf(need, state)) ?',
  }),
  ofRights('R-9', 'a site shares once more what an earlier start has given', 'replica/rights/rights-own', {
    file: RIGHTS,
    line: ' && operation.epoch === options.epoch',
    replacement: '',
  }),
  ofRights('R-9', 'a site shares what another one gives by a start of the same number', 'replica/rights/rights-own', {
    file: RIGHTS,
    line: 'let isOwn = isRed && site === options.site',
    replacement: 'let isOwn = isRed',
  }),
  ofRights('R-11', 'a closed incarnation asks for rights to be taken there', 'replica/rights/rights-own', {
    file: RIGHTS,
    line: 'if (ofPool > 0 || ledger.isClosed(options.site)) return',
    replacement: 'if (ofPool > 0) return',
  }),
  ofRights('R-10', 'what comes while rights are gathered is handed in too', 'replica/rights/rights-own', {
    file: RIGHTS,
    line: "if (lacking <= 0 || (asked === undefined && this.#questions.isOpen(name, 'pool', nowMs))) return;",
    replacement: 'if (lacking <= 0) return;',
  }),
  ofRights('R-15', 'what is given back goes to closed incarnations too', 'replica/rights/rights-own', {
    file: RIGHTS,
    line: 'const sites = options.origins.sites.filter((each) => !ledger.isClosed(each));',
    replacement: 'const sites = options.origins.sites;',
  }),
  ofRights('R-9', 'who got no answer once is taken for silent for ever', 'replica/rights/answered', {
    file: 'replica/rights/questions',
    line: 'const isSilent = this.#silentMs(name, what, nowMs) < this.#times.reachTimeoutMs;',
    replacement: 'const isSilent = this.#silentMs(name, what, nowMs) < Infinity;',
  }),
  ofRights('R-10', 'what goes to another site counts as handed in', 'replica/rights/in-flight', {
    file: 'replica/rights/in-flight',
    line: "return action === 'transfer' && (value as Transfer).to === RED;",
    replacement: "return action === 'transfer';",
  }),
  ofRights('R-3', 'takes of two rows are taken for takes of one', 'service/takes', {
    file: 'service/takes',
    line: 'need.table === table && need.key === key && need.field === field',
    replacement: 'need.table === table && need.field === field',
  }),
  ofRights('R-15', 'a pool is given back though somebody at its site waits for it', 'replica/rights/rights-own', {
    file: RIGHTS,
    line: 'if (this.#waiting.wantedOf(field) !== undefined || this.#wantedElsewhere.has(field)) return;',
    replacement: 'if (this.#wantedElsewhere.has(field)) return;',
  }),
  ofRights('R-9', 'what the pool has counts as shares of sites', 'replica/rights/rights-own', {
    file: RIGHTS,
    line: 'return (ledger.left - Math.max(0, ledger.pool)) / (others.length + 1);',
    replacement: 'return ledger.left / (others.length + 1);',
  }),
];
