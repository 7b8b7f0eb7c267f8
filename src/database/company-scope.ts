/**
 * Writes the SQL condition that the company of a row is one of the companies in the query `q`. The column `ofCompanies`
 * of `q` contains company ids, separated by spaces, or null for any company. Rows of other companies are not read at
 * all. Otherwise, a client could measure the time of the read to find out whether they exist.
 *
 * @param company an SQL expression for the id of the company
 */
export const isOfCompanies = (company: string) =>
  `(q."ofCompanies" IS NULL OR ${company} = ANY (string_to_array(q."ofCompanies", ' ')))`;
