package zaakstroom;

import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.Period;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.UUID;

import javax.enterprise.inject.se.SeContainerInitializer;
import javax.json.Json;
import javax.json.JsonObject;
import javax.json.JsonString;
import javax.ws.rs.core.Response;

import org.eclipse.microprofile.rest.client.RestClientBuilder;

import net.atos.client.zgw.brc.BRCClient;
import net.atos.client.zgw.brc.model.Besluit;
import net.atos.client.zgw.drc.DRCClient;
import net.atos.client.zgw.drc.model.EnkelvoudigInformatieobjectWithInhoud;
import net.atos.client.zgw.drc.model.EnkelvoudigInformatieobjectWithInhoudAndLock;
import net.atos.client.zgw.drc.model.Gebruiksrechten;
import net.atos.client.zgw.drc.model.InformatieobjectStatus;
import net.atos.client.zgw.drc.model.Lock;
import net.atos.client.zgw.shared.model.Archiefnominatie;
import net.atos.client.zgw.shared.model.Vertrouwelijkheidaanduiding;
import net.atos.client.zgw.shared.util.JsonbConfiguration;
import net.atos.client.zgw.shared.util.ZGWClientHeadersFactory;
import net.atos.client.zgw.zrc.ZRCClient;
import net.atos.client.zgw.zrc.model.AardRelatie;
import net.atos.client.zgw.zrc.model.BetrokkeneType;
import net.atos.client.zgw.zrc.model.HoofdzaakZaakPatch;
import net.atos.client.zgw.zrc.model.LocatieZaakPatch;
import net.atos.client.zgw.zrc.model.Medewerker;
import net.atos.client.zgw.zrc.model.NatuurlijkPersoon;
import net.atos.client.zgw.zrc.model.NietNatuurlijkPersoon;
import net.atos.client.zgw.zrc.model.Opschorting;
import net.atos.client.zgw.zrc.model.OrganisatorischeEenheid;
import net.atos.client.zgw.zrc.model.Point;
import net.atos.client.zgw.zrc.model.Point2D;
import net.atos.client.zgw.zrc.model.RelevanteZaak;
import net.atos.client.zgw.zrc.model.RelevantezaakZaakPatch;
import net.atos.client.zgw.zrc.model.Resultaat;
import net.atos.client.zgw.zrc.model.Rol;
import net.atos.client.zgw.zrc.model.RolListParameters;
import net.atos.client.zgw.zrc.model.RolMedewerker;
import net.atos.client.zgw.zrc.model.RolNatuurlijkPersoon;
import net.atos.client.zgw.zrc.model.RolNietNatuurlijkPersoon;
import net.atos.client.zgw.zrc.model.RolOrganisatorischeEenheid;
import net.atos.client.zgw.zrc.model.RolVestiging;
import net.atos.client.zgw.zrc.model.Status;
import net.atos.client.zgw.zrc.model.Verlenging;
import net.atos.client.zgw.zrc.model.Vestiging;
import net.atos.client.zgw.zrc.model.Zaak;
import net.atos.client.zgw.zrc.model.ZaakEigenschap;
import net.atos.client.zgw.zrc.model.ZaakInformatieobject;
import net.atos.client.zgw.zrc.model.ZaakInformatieobjectListParameters;
import net.atos.client.zgw.zrc.model.ZaakListParameters;
import net.atos.client.zgw.zrc.model.zaakobjecten.ObjectPand;
import net.atos.client.zgw.zrc.model.zaakobjecten.ZaakobjectListParameters;
import net.atos.client.zgw.zrc.model.zaakobjecten.ZaakobjectPand;
import net.atos.client.zgw.ztc.ZTCClient;
import net.atos.client.zgw.ztc.model.Roltype;
import net.atos.client.zgw.ztc.model.StatustypeListParameters;
import net.atos.client.zgw.ztc.model.ZaaktypeListParameters;
import net.atos.zac.notificaties.Notificatie;

/** Drives the client classes of ZAC against a service: one line a step, {@code ok} or {@code not ok}. See ../jvm.ts. */
public final class Zac {
    private static int failed = 0;

    private interface Work<T> {
        T done() throws Exception;
    }

    private static <T> T step(String name, Work<T> work) {
        try {
            T result = work.done();
            System.out.println("ok " + name);
            return result;
        } catch (Throwable error) {
            failed++;
            String why = error + (error.getCause() == null ? "" : " because of " + error.getCause());
            System.out.println("not ok " + name + ": " + why.replace('\n', ' '));
            return null;
        }
    }

    private static void check(boolean holds, Object what) {
        if (!holds) throw new IllegalStateException(String.valueOf(what));
    }

    private static UUID uuidOf(URI url) {
        String path = url.getPath();
        return UUID.fromString(path.substring(path.lastIndexOf('/') + 1));
    }

    private static <T> T client(Class<T> type) {
        return RestClientBuilder.newBuilder().baseUri(URI.create(System.getenv("API"))).build(type);
    }

    public static void main(String[] arguments) {
        // As on an application server: JSON-B makes the adapters of ZAC's enumerations by CDI.
        SeContainerInitializer.newInstance().disableDiscovery().addBeanClasses(Zac.class, ZGWClientHeadersFactory.class)
            .addExtensions(org.jboss.resteasy.cdi.ResteasyCdiExtension.class).initialize();
        JsonObject world = Json.createReader(new java.io.StringReader(System.getenv("WORLD"))).readObject();
        ZRCClient zrc = client(ZRCClient.class);
        DRCClient drc = client(DRCClient.class);
        ZTCClient ztc = client(ZTCClient.class);
        BRCClient brc = client(BRCClient.class);
        String rsin = "517439943";
        URI zaaktype = URI.create(world.getString("zaaktype"));
        URI other = URI.create(world.getString("other"));

        step("zaaktypen", () -> {
            check(ztc.zaaktypeList(new ZaaktypeListParameters(URI.create(world.getString("catalogus")))).getCount() == 1, "count");
            return ztc.zaaktypeRead(uuidOf(zaaktype));
        });
        step("statustypen", () -> ztc.statustypeList(new StatustypeListParameters(zaaktype)));
        Roltype roltype = step("roltype", () -> ztc.roltypeRead(uuidOf(URI.create(world.getString("roltype")))));

        Zaak made = step("create a case", () -> {
            Zaak zaak = new Zaak(zaaktype, LocalDate.of(2026, 3, 2), rsin, rsin);
            zaak.setOmschrijving("Kapvergunning");
            zaak.setToelichting("Eik");
            zaak.setZaakgeometrie(new Point(new Point2D(4.9, 52.37)));
            return zrc.zaakCreate(zaak);
        });
        if (made == null) return;
        UUID uuid = made.getUuid();
        URI zaak = made.getUrl();
        step("read it", () -> zrc.zaakRead(uuid));
        step("suspend", () -> {
            Zaak patch = new Zaak();
            patch.setOpschorting(new Opschorting(true, "Wacht"));
            check(zrc.zaakPartialUpdate(uuid, patch).isOpgeschort(), "not suspended");
            return null;
        });
        step("resume", () -> {
            Zaak patch = new Zaak();
            patch.setOpschorting(new Opschorting(false, "Verder"));
            return zrc.zaakPartialUpdate(uuid, patch);
        });
        step("extend", () -> {
            Zaak patch = new Zaak();
            patch.setVerlenging(new Verlenging("Drukte", Period.ofDays(7)));
            return zrc.zaakPartialUpdate(uuid, patch);
        });
        step("take its place away", () -> zrc.zaakPartialUpdate(uuid, new LocatieZaakPatch(null)));
        step("relate another", () -> zrc.zaakPartialUpdate(uuid, new RelevantezaakZaakPatch(List.of(new RelevanteZaak(other, AardRelatie.VERVOLG)))));
        step("part of another", () -> zrc.zaakPartialUpdate(uuid, new HoofdzaakZaakPatch(other)));
        step("no part of it", () -> zrc.zaakPartialUpdate(uuid, new HoofdzaakZaakPatch(null)));

        Medewerker jan = new Medewerker();
        jan.setIdentificatie("jan");
        jan.setAchternaam("Jansen");
        OrganisatorischeEenheid groep = new OrganisatorischeEenheid();
        groep.setIdentificatie("groep");
        groep.setNaam("Groep");
        List<Rol<?>> rollen = List.of(
            new RolNatuurlijkPersoon(zaak, roltype, "Erbij", new NatuurlijkPersoon("111222333")),
            new RolNietNatuurlijkPersoon(zaak, roltype, "Erbij", new NietNatuurlijkPersoon("002220647")),
            new RolVestiging(zaak, roltype, "Erbij", new Vestiging("000037178598")),
            new RolOrganisatorischeEenheid(zaak, roltype, "Erbij", groep),
            new RolMedewerker(zaak, roltype, "Erbij", jan));
        for (Rol<?> rol : rollen) step("role " + rol.getBetrokkeneType(), () -> {
            Rol<?> created = zrc.rolCreate(rol);
            check(created.getClass() == rol.getClass(), created.getClass());
            check(zrc.rolRead(created.getUuid()).getRegistratiedatum() != null, "registratiedatum");
            return created;
        });
        step("list roles", () -> {
            List<Rol<?>> found = zrc.rolList(new RolListParameters(zaak)).getResults();
            check(found.size() == 5, found.size());
            for (Rol<?> rol : found) check(rol.getRegistratiedatum() != null, rol);
            return null;
        });
        step("take a role away", () -> {
            var found = zrc.rolList(new RolListParameters(zaak, roltype.getUrl(), BetrokkeneType.MEDEWERKER)).getResults();
            return zrc.rolDelete(found.get(0).getUuid());
        });

        byte[] bytes = "Beste".getBytes(StandardCharsets.UTF_8);
        EnkelvoudigInformatieobjectWithInhoud document = step("document", () -> {
            EnkelvoudigInformatieobjectWithInhoud body = new EnkelvoudigInformatieobjectWithInhoud();
            body.setBronorganisatie(rsin);
            body.setCreatiedatum(LocalDate.of(2026, 3, 2));
            body.setTitel("Brief");
            body.setAuteur("Jan");
            body.setTaal("dut");
            body.setFormaat("text/plain");
            body.setBestandsnaam("brief.txt");
            body.setBestandsomvang((long) bytes.length);
            body.setStatus(InformatieobjectStatus.IN_BEWERKING);
            body.setVertrouwelijkheidaanduiding(Vertrouwelijkheidaanduiding.OPENBAAR);
            body.setInformatieobjecttype(URI.create(world.getString("informatieobjecttype")));
            body.setInhoud(bytes);
            return drc.enkelvoudigInformatieobjectCreate(body);
        });
        if (document != null) {
            UUID id = uuidOf(document.getUrl());
            step("read it", () -> drc.enkelvoudigInformatieobjectRead(id));
            step("read a version", () -> drc.enkelvoudigInformatieobjectReadVersie(id, 1));
            step("download it", () -> {
                try (Response response = drc.enkelvoudigInformatieobjectDownload(id)) {
                    byte[] got = response.readEntity(InputStream.class).readAllBytes();
                    check(new String(got, StandardCharsets.UTF_8).equals("Beste"), got.length);
                }
                return null;
            });
            step("terms of use", () -> drc.gebruiksrechtenCreate(new Gebruiksrechten(document.getUrl(), ZonedDateTime.now(), "geen")));
            step("put it in the case", () -> {
                ZaakInformatieobject link = new ZaakInformatieobject(document.getUrl(), zaak);
                link.setTitel("Brief");
                return zrc.zaakinformatieobjectCreate(link);
            });
            step("list documents", () -> {
                ZaakInformatieobjectListParameters of = new ZaakInformatieobjectListParameters();
                of.setZaak(zaak);
                List<ZaakInformatieobject> found = zrc.zaakinformatieobjectList(of);
                check(found.size() == 1 && found.get(0).getRegistratiedatum() != null, found.size());
                return null;
            });
            Lock lock = step("lock", () -> drc.enkelvoudigInformatieobjectLock(id, new Lock("")));
            step("change it", () -> {
                EnkelvoudigInformatieobjectWithInhoudAndLock patch = new EnkelvoudigInformatieobjectWithInhoudAndLock();
                patch.setTitel("Brief, 2");
                patch.setStatus(InformatieobjectStatus.DEFINITIEF);
                patch.setLock(lock.getLock());
                return drc.enkelvoudigInformatieobjectPartialUpdate(id, patch);
            });
            step("unlock", () -> drc.enkelvoudigInformatieobjectUnlock(id, lock));
            step("audit trail of it", () -> {
                check(!drc.listAuditTrail(id).isEmpty(), "nothing");
                return null;
            });
        }
        step("property", () -> zrc.zaakeigenschapCreate(uuid, new ZaakEigenschap(zaak, URI.create(world.getString("eigenschap")), "rood")));
        step("list properties", () -> zrc.zaakeigenschapList(uuid));
        step("object", () -> zrc.zaakobjectCreate(
            new ZaakobjectPand(zaak, null, new ObjectPand("0363100012345678"))));
        step("list objects", () -> {
            ZaakobjectListParameters of = new ZaakobjectListParameters();
            of.setZaak(zaak);
            return zrc.zaakobjectList(of);
        });
        Besluit besluit = step("besluit", () -> {
            Besluit body = new Besluit();
            body.setVerantwoordelijkeOrganisatie(rsin);
            body.setBesluittype(URI.create(world.getString("besluittype")));
            body.setZaak(zaak);
            body.setDatum(LocalDate.of(2026, 3, 2));
            body.setIngangsdatum(LocalDate.of(2026, 3, 3));
            body.setToelichting("Blijft");
            return brc.besluitCreate(body);
        });
        if (besluit != null) step("change it by PUT, without its case and text", () -> {
            Besluit body = new Besluit();
            body.setVerantwoordelijkeOrganisatie(rsin);
            body.setBesluittype(besluit.getBesluittype());
            body.setDatum(LocalDate.of(2026, 3, 2));
            body.setIngangsdatum(LocalDate.of(2026, 3, 4));
            Besluit after = brc.besluitUpdate(uuidOf(besluit.getUrl()), body);
            check(zaak.equals(after.getZaak()) && "Blijft".equals(after.getToelichting()), after.getZaak());
            return null;
        });

        step("search by every filter", () -> {
            ZaakListParameters by = new ZaakListParameters();
            by.setIdentificatie(made.getIdentificatie());
            by.setBronorganisatie(rsin);
            by.setZaaktype(zaaktype);
            by.setStartdatum(LocalDate.of(2026, 3, 2));
            by.setStartdatumGreaterThan(LocalDate.of(2026, 3, 1));
            by.setStartdatumGreaterThanOrEqual(LocalDate.of(2026, 3, 2));
            by.setStartdatumLessThan(LocalDate.of(2026, 3, 3));
            by.setStartdatumLessThanOrEqual(LocalDate.of(2026, 3, 2));
            by.setRolBetrokkeneType(BetrokkeneType.NATUURLIJK_PERSOON);
            by.setMaximaleVertrouwelijkheidaanduiding(Vertrouwelijkheidaanduiding.ZEER_GEHEIM);
            by.setRolBetrokkeneIdentificatieNatuurlijkPersoonInpBsn("111222333");
            by.setOrdering("-startdatum");
            check(zrc.zaakList(by).getCount() == 1, "count");
            by.setArchiefnominatie(Archiefnominatie.VERNIETIGEN);
            by.setArchiefactiedatumGreaterThan(LocalDate.of(2020, 1, 1));
            by.setArchiefactiedatumLessThan(LocalDate.of(2099, 1, 1));
            by.setRolBetrokkeneIdentificatieMedewerkerIdentificatie("jan");
            by.setRolBetrokkeneIdentificatieOrganisatorischeEenheidIdentificatie("groep");
            return zrc.zaakList(by);
        });

        step("status", () -> zrc.statusCreate(new Status(zaak, URI.create(world.getString("statustype")), ZonedDateTime.now().minusMinutes(1))));
        Resultaat resultaat = step("result", () -> zrc.resultaatCreate(new Resultaat(zaak, URI.create(world.getString("resultaattype")))));
        if (resultaat != null) step("change it", () -> {
            resultaat.setToelichting("Toch");
            return zrc.resultaatUpdate(resultaat.getUuid(), resultaat);
        });
        step("close", () -> {
            zrc.statusCreate(new Status(zaak, URI.create(world.getString("eindstatus")), ZonedDateTime.now()));
            check(zrc.zaakRead(uuid).getEinddatum() != null, "open");
            return null;
        });
        step("audit trail of the case", () -> {
            check(zrc.listAuditTrail(uuid).size() >= 10, "few");
            return null;
        });

        for (var message : world.getJsonArray("messages")) {
            String text = ((JsonString) message).getString();
            step("message", () -> {
                Notificatie read = new JsonbConfiguration().getContext(Notificatie.class).fromJson(text, Notificatie.class);
                check(read.getCreationDateTime() != null && read.getChannel() != null && read.getAction() != null, text);
                return null;
            });
        }
        System.out.println("done, " + failed + " failed");
        System.exit(0);
    }
}
