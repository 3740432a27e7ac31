/**
 * What properties draw is as large as their `maxLength` says: fast-check takes that for a bound and mostly draws up to ten
 * whatever it is, so that what comes with size is never met.
 */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), defaultSizeToMaxWhenMaxSpecified: true });
