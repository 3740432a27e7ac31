/** TPC-W, for whoever runs case studies. */
import { auditAll } from '../audit.ts';
import type { CaseStudy } from '../case-study.ts';
import { tpcw } from './contract.ts';
import { populate } from './data.ts';
import { follow, mixes } from './mixes.ts';
import { enter } from './requests.ts';
import { arbitraries, service } from './service.ts';

/** Of the time between two clicks: its mean and its upper bound (TPC-W, clause 5.3.2). */
const THINK_MS = 7000;
const THINK_MS_MAX = 70_000;

export const study: CaseStudy = {
  name: 'tpcw',
  about: 'an online bookstore, the benchmark TPC-W',
  service,
  arbitraries,
  apart: ['loadItems', 'loadAuthors', 'loadCustomers', 'audit'],
  mixes,
  populate,
  enter,
  follow,
  thinkMs: (random) => Math.min(THINK_MS_MAX, -Math.log(1 - random()) * THINK_MS),
  audit: (store) => auditAll(service, tpcw.audit, store),
};
