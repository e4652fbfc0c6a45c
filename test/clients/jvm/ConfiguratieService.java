package net.atos.zac.configuratie;

/** The two names that a model of ZAC looks at; the service itself asks a database of ZAC. */
public final class ConfiguratieService {
    public static final String STATUSTYPE_OMSCHRIJVING_HEROPEND = "Heropend";
    public static final String STATUSTYPE_OMSCHRIJVING_INTAKE = "Intake";
}
