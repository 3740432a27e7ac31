/** TPC-W as a case study. */
import { auditAll } from '../audit.ts';
import type { CaseStudy } from '../case-study.ts';
import { thinkMs } from '../think-time.ts';
import { tpcw } from './contract.ts';
import { populate } from './data.ts';
import { follow, mixes } from './mixes.ts';
import { enter } from './requests.ts';
import { arbitraries, service } from './service.ts';

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
  thinkMs,
  audit: (store) => auditAll(service, tpcw.audit, store),
};
