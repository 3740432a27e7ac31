/**
 * To be imported before any schema is made: schemas then never look whether they may make code at run time. They may not,
 * by the policy of the demos' pages, and asking is reported as a violation.
 */
import { config } from 'zod/mini';

config({ jitless: true });
