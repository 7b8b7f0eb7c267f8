/**
 * Returns the SQL condition that a company is in the list `q."ofCompanies"`: company ids, separated by spaces, or null
 * for every company. With this condition, PostgreSQL reads only rows of the listed companies. Reading rows of other
 * companies would take time. From the response time, a client could then find out whether another company has matching
 * rows.
 *
 * @param company an SQL expression for the id of the company
 */
export const isOfCompanies = (company: string) =>
  `(q."ofCompanies" IS NULL OR ${company} = ANY (string_to_array(q."ofCompanies", ' ')))`;
