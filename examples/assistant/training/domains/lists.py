"""Lists: shopping, to-do and lists with other names. A list that is not named is the shopping list for goods and the to-do list for tasks."""
from grammar import Intent, Lexicon, joined

DRINKS = Lexicon("""milk, water, orange juice, apple juice, coffee, beer, red wine, white wine, wine, oat milk, almond milk, soy milk, coconut milk, sparkling water, mineral water, lemonade, cola, coke, diet coke, iced tea,
    ginger ale, tonic water, cranberry juice, tomato juice, grape juice, chocolate milk, skim milk, whole milk, cream, heavy cream, sour cream, buttermilk, cold brew, root beer, cider, champagne, whiskey, vodka, rum, gin,
    energy drinks, juice, soda, club soda, milkshake mix, sports drink, pineapple juice, still water, olive oil, vegetable oil, vinegar, soy sauce, maple syrup, ketchup, fish sauce,
    pear juice, peach juice, carrot juice, beetroot juice, lemon juice, lime juice, cherry juice, pomegranate juice, grapefruit juice, guava juice, passion fruit juice, vegetable juice, prune juice, coconut water, rose water,
    spring water, distilled water, flavored water, vitamin water, seltzer, orange soda, grape soda, cream soda, cherry cola, diet soda, diet pepsi, pepsi, sprite, fanta, dr pepper, mountain dew, red bull, gatorade, powerade,
    lucozade, ribena, irn bru, vimto, orange squash, barley water, elderflower cordial, lime cordial, bitter lemon, ginger beer, lager, stout, pale ale, brown ale, wheat beer, craft beer, alcohol free beer, guinness, pilsner,
    rose wine, sparkling wine, dessert wine, mulled wine, cooking wine, port wine, sherry, vermouth, brandy, cognac, bourbon, scotch, irish whiskey, dark rum, white rum, baileys, amaretto, limoncello, schnapps, absinthe, sake,
    soju, mezcal, aperol, campari, mead, cava, chardonnay, merlot, pinot noir, pinot grigio, sauvignon blanc, riesling, malbec, rice milk, cashew milk, hazelnut milk, hemp milk, lactose free milk, low fat milk,
    semi skimmed milk, evaporated milk, strawberry milk, banana milk, vanilla soy milk, coffee creamer, single cream, double cream, whipping cream, eggnog, chai, chai latte, iced coffee, sweet tea, peach iced tea, lassi,
    ayran, horchata, bubble tea, apple cider, sunflower oil, canola oil, rapeseed oil, sesame oil, coconut oil, avocado oil, peanut oil, corn oil, truffle oil, extra virgin olive oil, frying oil, balsamic vinegar,
    apple cider vinegar, rice vinegar, malt vinegar, red wine vinegar, white vinegar, worcestershire sauce, teriyaki sauce, oyster sauce, hoisin sauce, sweet chili sauce, tabasco, sriracha, salad dressing, ranch dressing,
    caesar dressing, italian dressing, corn syrup, chocolate syrup, vanilla syrup, caramel syrup, grenadine, tamari, mirin, liquid smoke, pickle juice, clam juice, bone broth""",
                 """kombucha, prosecco, kefir, oat cream, mango juice, tequila, goat milk""")
DRY = Lexicon("""bread, rice, pasta, flour, sugar, salt, cereal, oatmeal, spaghetti, coffee beans, tea, green tea, black tea, herbal tea, peanut butter, jam, honey, brown sugar, powdered sugar, baking powder, yeast, cinnamon,
    black pepper, pepper,
    paprika, cumin, oregano, basil, thyme, curry powder, vanilla extract, cocoa powder, chocolate, dark chocolate, milk chocolate, popcorn, granola, muesli, quinoa, couscous, breadcrumbs, corn starch, chicken stock, vegetable broth,
    tomato sauce, mustard, mayonnaise,
    mayo, hot sauce, barbecue sauce, salsa, pesto, hummus, white bread, rye bread, sourdough bread, pizza dough, puff pastry, brown rice, basmati rice, noodles, cake mix, pancake mix, chewing gum, gum, candy, trail mix,
    whole wheat bread, instant coffee,
    decaf coffee, dried fruit, dog food, cat food, bird seed, cat litter, fish food, rabbit food, garlic powder, chili powder, bay leaf, tuna, canned tuna, canned corn, tomato soup, chicken soup, gravy, stuffing, ice cream,
    vanilla ice cream, nutella,
    marmite, vegemite, custard, porridge oats, digestive biscuits, golden syrup, atta, dal, toor dal, basmati, turmeric, garam masala, jaggery, rusks, mac and cheese, macaroni and cheese, salt and vinegar crisps,
        cookies and cream ice cream, stock cubes, miso paste, kimchi, weetabix, cornflakes,
    almond flour, coconut flour, rye flour, spelt flour, self raising flour, bread flour, cake flour, gluten free flour, cornmeal, corn flour, semolina, grits, millet, barley, pearl barley, rolled oats, bran flakes,
    shredded wheat, rice krispies, frosted flakes, raisin bran, wheat germ, flaxseed, jasmine rice, sushi rice, arborio rice, white rice, fried rice mix, rice paper, orzo, penne, fusilli, linguine, fettuccine, rigatoni,
    macaroni, vermicelli, tagliatelle, farfalle, angel hair pasta, whole wheat pasta, gluten free pasta, udon, soba, caster sugar, icing sugar, cane sugar, raw sugar, vanilla sugar, stevia, sweetener, molasses, treacle,
    sea salt, kosher salt, table salt, garlic salt, onion powder, smoked paprika, cayenne pepper, white pepper, lemon pepper, allspice, cardamom, mustard powder, ground ginger, star anise, sumac, italian seasoning,
    taco seasoning, marjoram, tarragon, sage, fenugreek, tamarind, tamarind paste, curry paste, red curry paste, tomato puree, gelatin, pectin, baking chocolate, white chocolate, cooking chocolate, drinking chocolate,
    hot chocolate mix, milk powder, protein powder, whey powder, matzo, pita bread, naan bread, garlic bread, banana bread, corn bread, wholemeal bread, brown bread, raisin bread, soda bread, sliced bread, ciabatta, focaccia,
    brioche, pumpernickel, flatbread, crispbread, melba toast, panko, almond butter, cashew butter, strawberry jam, raspberry jam, cherry jam, marmalade, lemon curd, grape jelly, jello, relish, chutney, mango chutney,
    horseradish, dijon mustard, aioli, tartar sauce, steak sauce, brown sauce, mint sauce, cranberry sauce, alfredo sauce, marinara sauce, pasta sauce, pizza sauce, enchilada sauce, curry sauce, passata, beef stock,
    fish stock, beef broth, chicken broth, onion soup, pea soup, noodle soup, minestrone, clam chowder, beef jerky, canned salmon, canned soup, canned pumpkin, corned beef, spam, sauerkraut, seaweed, nori, licorice, toffee,
    fudge, nougat, caramel, turkish delight, halva, baklava, shortbread, gingerbread, chocolate spread, hazelnut spread, brownie mix, muffin mix, bread mix, soup mix, spice mix, instant mashed potato, earl grey tea,
    chamomile tea, peppermint tea, oolong tea, jasmine tea, ginger tea, lemon tea, rooibos, ground coffee, chicory coffee, puppy food, kitten food, hamster food, turtle food, chicken feed, horse feed, hay, kibble, porridge""",
              """tahini, saffron, pancetta cubes, ramen, nutmeg, agave syrup, lentil soup, bulgur, matcha, marzipan, wasabi""")
FRESH = Lexicon("""butter, cheese, cream cheese, cottage cheese, cheddar, mozzarella, parmesan, feta, goat cheese, swiss cheese, grated cheese, yogurt, greek yogurt, chicken, chicken breast, ground beef, beef, pork, bacon, ham, turkey,
    salami, steak, salmon, cod, fish, minced meat,
    lamb, tofu, lettuce, spinach, broccoli, cauliflower, cabbage, celery, kale, garlic, ginger, parsley, cilantro, mint, rosemary, dill, asparagus, corn, zucchini, sweet corn, salad, fruit, vegetables, meat, margarine, sliced turkey,
    roast beef, smoked salmon, yoghurt, minced beef, mince, gammon, paneer, curd, ghee, coriander, aubergine, snags, half and half, beetroot, sweetcorn, pizza, frozen pizza, eggplant,
    potato salad, coleslaw, watermelon, pineapple, cucumber, celery root, tomato salad, rhubarb, frozen spinach, fresh basil, lunch meat, cake, apple pie, guacamole,
    ricotta, mascarpone, provolone, camembert, gruyere, emmental, edam, manchego, pecorino, stilton, gorgonzola, roquefort, monterey jack, pepper jack, burrata, queso fresco, labneh, skyr, quark, creme fraiche, clotted cream,
    whipped cream, salted butter, unsalted butter, vegan butter, herb butter, plain yogurt, vanilla yogurt, strawberry yogurt, frozen yogurt, soy yogurt, coconut yogurt, sausage meat, ground turkey, ground pork,
    ground chicken, ground lamb, turkey breast, turkey bacon, chicken liver, stewing beef, brisket, sirloin, sirloin steak, ribeye, rump steak, flank steak, tenderloin, pork loin, pork belly, pork shoulder, pulled pork,
    parma ham, serrano ham, chorizo, pepperoni, mortadella, pastrami, bologna, black pudding, haggis, veal, venison, duck, duck breast, goose, bison, mutton, leg of lamb, halibut, haddock, trout, tilapia, mackerel, herring,
    sea bass, catfish, plaice, pollock, red snapper, swordfish, monkfish, tuna steak, crab, crab meat, lobster, squid, calamari, octopus, smoked trout, caviar, seitan, edamame, silken tofu, smoked tofu, romaine lettuce,
    iceberg lettuce, butter lettuce, rocket, watercress, endive, radicchio, swiss chard, chard, bok choy, napa cabbage, red cabbage, savoy cabbage, broccolini, kohlrabi, celeriac, butternut squash, acorn squash, okra, daikon,
    taro, cassava, lemongrass, baby spinach, salad mix, caesar salad, pasta salad, egg salad, fruit salad, chicken salad, tuna salad, seaweed salad, fresh mint, fresh thyme, fresh parsley, chervil, chives, ginger root,
    cantaloupe, honeydew melon, mango, papaya, dragon fruit, jackfruit, pomegranate, frozen mango, frozen corn, frozen broccoli, frozen fish, frozen fruit, filo pastry, cookie dough, pie crust, fresh pasta, ravioli,
    tortellini, cannelloni, lasagna, moussaka, paella, shepherd's pie, cottage pie, fish pie, chicken pot pie, meat pie, pumpkin pie, pecan pie, cherry pie, cheesecake, carrot cake, chocolate cake, sponge cake, lemon tart,
    chocolate mousse, rice pudding, tzatziki, sushi, sashimi, falafel, sorbet, gelato, chocolate ice cream, strawberry ice cream, lemon sorbet, vegan ice cream""",
                """brie, arugula, tempeh, gouda, prosciutto, fennel, halloumi, quiche, pak choi""")
PLURALS = Lexicon("""light bulbs, fairy lights, string lights, bike lights, solar lights, christmas lights, candle lights, floor lamps, music sheets, eggs, apples, bananas, oranges, lemons, limes, onions, potatoes, tomatoes, carrots, peppers, red peppers, mushrooms, cucumbers, grapes, strawberries, blueberries, raspberries, cherries, pears, plums, mangoes,
    avocados, sweet potatoes, green beans, black beans,
    kidney beans, baked beans, chickpeas, lentils, peas, frozen peas, radishes, beets, olives, pickles, nuts, almonds, walnuts, cashews, peanuts, raisins, dates, crackers, chips, potato chips, tortilla chips, pretzels, cookies,
    muffins, rolls, buns, hamburger buns, hot dog buns, tortillas,
    wraps, donuts, brownies, granola bars, chocolate bars, chicken wings, chicken thighs, hot dogs, sausages, burgers, pork chops, shrimps, fish sticks, fish fingers, french fries, waffles, ice pops, chocolate chips, marshmallows,
    tea bags, coffee filters, coffee pods, canned tomatoes,
    cherry tomatoes, spring onions, red onions, leeks, melons, grapefruits, kiwis, apricots, pine nuts, batteries, double a batteries, light bulbs, candles, paper towels, napkins, tissues, trash bags, garbage bags, freezer bags,
    sandwich bags, sponges, crisps, biscuits, nappies, courgettes, prawns, tea towels, hoover bags, tim tams, jaffa cakes, chapatis, rotis, samosas, papadums, capsicums, chillies, plasters, lollies, oatcakes, scones,
        jelly babies, bin bags, baked potatoes, dishwasher tablets, diapers, baby wipes,
    razors, razor blades, cotton balls, cotton swabs, band aids, vitamins, painkillers, toothbrushes, paper plates, plastic cups, straws, matches, envelopes, stamps, pens, pencils, notebooks, screws, nails, dog treats, cat treats,
    flowers, roses, tulips, wet wipes, rubber gloves, birthday candles, balloons,
    contact lenses, allergy pills, pads, tampons, lunch boxes, socks, coat hangers, clothes pins, picture hooks, poop bags, egg noodles, lasagna sheets, taco shells, bread rolls, frozen berries,
    duck eggs, quail eggs, brown eggs, free range eggs, green apples, clementines, mandarins, tangerines, satsumas, blood oranges, plantains, pomegranates, persimmons, quinces, guavas, lychees, coconuts, blackberries,
    gooseberries, redcurrants, blackcurrants, elderberries, mulberries, goji berries, prunes, sultanas, dried apricots, pecans, hazelnuts, brazil nuts, macadamia nuts, chestnuts, mixed nuts, salted peanuts, pumpkin seeds,
    sesame seeds, chia seeds, poppy seeds, flax seeds, caraway seeds, cloves, cinnamon sticks, peppercorns, vanilla pods, chili flakes, bean sprouts, brussels sprouts, snow peas, sugar snap peas, split peas, broad beans,
    runner beans, pinto beans, white beans, butter beans, lima beans, fava beans, mung beans, refried beans, red lentils, green lentils, jalapenos, green chilies, bell peppers, green peppers, yellow peppers, shallots,
    scallions, white onions, pickled onions, new potatoes, baby potatoes, red potatoes, yams, baby carrots, plum tomatoes, sun dried tomatoes, zucchinis, aubergines, beetroots, pumpkins, sardines, kippers, mussels, clams,
    oysters, crab sticks, fish cakes, salmon fillets, cod fillets, chicken nuggets, chicken legs, drumsticks, chicken tenders, chicken breasts, turkey legs, spare ribs, short ribs, lamb chops, lamb shanks, steaks, bratwursts,
    frankfurters, veggie burgers, corn dogs, veggie sausages, pigs in blankets, spring rolls, egg rolls, pierogies, wontons, pot stickers, empanadas, tamales, tacos, burritos, enchiladas, hash browns, tater tots, onion rings,
    potato wedges, sweet potato fries, oven chips, frozen pizzas, frozen vegetables, mixed vegetables, pancakes, english muffins, blueberry muffins, cinnamon rolls, pastries, cupcakes, croutons, breadsticks, dinner rolls,
    pita breads, rice cakes, rice crackers, graham crackers, banana chips, corn chips, nachos, popsicles, ice lollies, ice cream cones, ice cubes, ginger snaps, oreos, macarons, wafers, hobnobs, custard creams, fruit snacks,
    gummy bears, jelly beans, mints, lollipops, chocolate eggs, easter eggs, candy canes, candy bars, protein bars, energy bars, cereal bars, muesli bars, juice boxes, coffee capsules, teabags, sugar cubes, rice noodles,
    glass noodles, udon noodles, muffin cups, cupcake liners, sprinkles, toothpicks, skewers, paper cups, paper bags, plastic forks, plastic spoons, dish towels, dish cloths, scouring pads, microfiber cloths, dusters,
    vacuum bags, compost bags, ziploc bags, zip ties, cable ties, rubber bands, paper clips, staples, drawing pins, sticky notes, index cards, file folders, binders, notepads, highlighters, markers, crayons, colored pencils,
    erasers, glue sticks, ink cartridges, postcards, gift bags, gift tags, ribbons, triple a batteries, watch batteries, fuses, led bulbs, firelighters, tent pegs, washers, bolts, hooks, drill bits, paint brushes, seeds,
    tomato plants, daffodils, tulip bulbs, lilies, sunflowers, carnations, orchids, plant pots, bandages, gauze pads, cotton pads, makeup wipes, disinfectant wipes, throat lozenges, antacids, vitamin tablets,
    fish oil capsules, ear plugs, cotton buds, hair ties, bobby pins, hair clips, tights, shoelaces, dryer sheets, laundry pods, dishwasher pods, moth balls, mouse traps, ant traps, puppy pads, chew bones, dog biscuits,
    catnip toys, rabbit pellets, fish flakes, meatballs""",
                  """artichokes, turnips, parsnips, nectarines, papayas, pistachios, capers, dumplings, anchovies, coasters, thumbtacks, eclairs, scallops, tea lights, figs, hinges, crumpets""")
HOUSE = Lexicon("""toilet paper, toothpaste, loo roll, fairy liquid, washing up powder, cotton wool, bug repellent, toilet cleaner, shampoo, conditioner, soap, hand soap, dish soap, laundry detergent, detergent,
    fabric softener, bleach, aluminum foil, tin foil, plastic wrap, cling film, parchment paper, baking paper,
    wrapping paper, printer paper, shaving cream, deodorant, sunscreen, lotion, body lotion,
    hand cream, face wash, mouthwash, dental floss, hair gel, hairspray, body wash, shower gel, aspirin, ibuprofen, cough syrup, nail polish, lip balm, mascara, window cleaner, glass cleaner, oven cleaner, floor cleaner, drain cleaner,
    washing powder, stain remover, air freshener, bug spray, duct tape, masking tape,
    scotch tape, glue, super glue, wood glue, paint, white paint, motor oil, windshield washer fluid, potting soil, plant food, weed killer, charcoal, lighter fluid, firewood, baby formula, baby powder, baby oil, kitchen roll,
    washing up liquid, bin liners, hair dye, hand sanitizer, cold medicine, eye drops, flea shampoo, furniture polish,
    body scrub, face cream, moisturizer, night cream, eye cream, foot cream, hand lotion, sun cream, after sun lotion, aftershave, shaving gel, shaving foam, hair removal cream, hair wax, hair mousse, dry shampoo,
    baby shampoo, dandruff shampoo, dog shampoo, hair oil, argan oil, bubble bath, bar soap, liquid soap, kids toothpaste, whitening toothpaste, contact lens solution, nail polish remover, lipstick, lip gloss, eyeliner,
    eye shadow, foundation, concealer, blush, makeup remover, face powder, face toner, serum, rubbing alcohol, hydrogen peroxide, iodine, antiseptic cream, burn cream, diaper cream, petroleum jelly, vaseline, tylenol,
    paracetamol, calpol, advil, benadryl, allergy medicine, nasal spray, throat spray, cough medicine, vapor rub, tiger balm, insect repellent, mosquito spray, wasp spray, ant powder, fly spray, laundry soap,
    fabric conditioner, spray starch, dishwasher salt, rinse aid, dishwasher detergent, washing soda, bathroom cleaner, kitchen cleaner, all purpose cleaner, carpet cleaner, leather cleaner, shoe polish, floor polish,
    floor wax, car wax, car shampoo, disinfectant, disinfectant spray, mold remover, rust remover, paint thinner, white spirit, primer, wood stain, varnish, wood filler, plaster, cement, concrete mix, mortar, sand, gravel,
    sealant, silicone, hot glue, fabric glue, epoxy, double sided tape, electrical tape, painter's tape, packing tape, gaffer tape, sticky tape, bubble wrap, brown paper, tissue paper, crepe paper, construction paper,
    photo paper, tracing paper, wax paper, greaseproof paper, aluminium foil, kitchen foil, kitchen towel, string, twine, yarn, elastic, velcro, felt, ribbon, fishing line, picture wire, brake fluid, engine oil, coolant,
    screen wash, chain oil, lamp oil, kerosene, propane, camping gas, kindling, coal, mulch, compost, topsoil, cactus soil, peat moss, fertilizer, lawn fertilizer, rose food, tomato feed, grass seed, moss killer, rock salt,
    pool chlorine, flea powder, flea treatment, hamster bedding, baby lotion, baby wash, teething gel, gripe water, beeswax, linseed oil, slug repellent, hair bleach, self tanner, setting spray, denture cream""",
                """turpentine, talcum powder, beard oil, antifreeze, micellar water, caulk, limescale remover, epsom salt, grout""")
THINGS = Lexicon("""wall clock, alarm clock, kitchen timer, egg timer, night light, bike light, head lamp, music stand, song book, thermostat cover, toothbrush, hairbrush, comb, hammer, screwdriver, drill bit, tape measure, flashlight, extension cord, phone charger, light bulb, bucket, mop, broom, frying pan, can opener, cutting board, water bottle, lunch box,
    umbrella, dog leash, dog collar, cat toy, litter box, scratching post,
    birthday card, birthday cake, bunch of flowers, thermometer, first aid kit, pillow, blanket, towel, shower curtain, bath mat, door mat, ladder, paint brush, garden hose, shovel, rake, flower pot, watering can, padlock, lamp shade,
    power strip, smoke detector, notebook, calendar, lighter, corkscrew, bottle opener,
    cheese grater, measuring cup, baking tray, cake tin, roasting tin, saucepan, kettle, toaster, laundry bag, doormat, plunger, toilet brush, sewing kit, water filter, rotisserie chicken, baguette, whole chicken, pumpkin,
    head of lettuce, ripe avocado, christmas tree,
    whisk, ladle, potato masher, potato peeler, vegetable peeler, garlic press, lemon squeezer, pepper mill, salt shaker, sugar bowl, butter dish, mixing bowl, salad bowl, fruit bowl, cereal bowl, salad spinner,
    chopping board, bread knife, kitchen knife, cutlery set, wooden spoon, serving spoon, ice cream scoop, pizza cutter, pizza stone, cookie sheet, cooling rack, muffin tin, loaf pan, pie dish, wok, griddle, stock pot,
    pressure cooker, slow cooker, rice cooker, dutch oven, skillet, cast iron skillet, kitchen scale, meat thermometer, oven mitt, apron, teapot, coffee mug, french press, coffee grinder, milk frother, travel mug, wine glass,
    beer glass, water jug, pitcher, ice cube tray, lunch bag, cooler, cool box, picnic basket, picnic blanket, bread bin, cookie jar, spice rack, dish rack, dish brush, washing up bowl, trash can, recycling bin, compost bin,
    pedal bin, laundry hamper, clothes rack, drying rack, clothes line, lint roller, vacuum cleaner, dustpan, feather duster, squeegee, scrubbing brush, bottle brush, toilet seat, soap dish, soap dispenser,
    electric toothbrush, shower head, bath towel, hand towel, washcloth, bath plug, razor, electric razor, hair dryer, curling iron, nail clipper, makeup bag, hot water bottle, heating pad, ice pack, blood pressure monitor,
    pill box, walking stick, wall clock, picture frame, photo album, candle holder, cushion, throw pillow, pillow case, duvet, duvet cover, fitted sheet, mattress topper, curtain rod, roller blind, door stop, door handle,
    key ring, coat rack, shoe rack, umbrella stand, fire extinguisher, carbon monoxide detector, baby monitor, baby gate, booster seat, high chair, changing mat, baby bottle, sippy cup, pacifier, teething ring, rattle,
    dog bed, dog bowl, dog crate, dog brush, dog harness, cat bed, cat carrier, cat tree, fish bowl, bird feeder, bird bath, hamster wheel, wrench, socket set, allen key, pair of pliers, pair of scissors, hand saw, hacksaw,
    crowbar, mallet, spirit level, staple gun, glue gun, box cutter, tool box, step ladder, paint tray, putty knife, wire brush, clamp, soldering iron, bike pump, bike lock, inner tube, ice scraper, snow shovel, car charger,
    phone holder, phone case, screen protector, memory card, memory stick, hard drive, mouse pad, wireless mouse, webcam, charging cable, power adapter, stapler, hole punch, paper shredder, pencil case, pencil sharpener,
    ruler, calculator, diary, planner, sketchbook, whiteboard, cork board, globe, world map, garden fork, trowel, garden hoe, leaf blower, hedge trimmer, hose nozzle, plant stand, hanging basket, rain barrel, deck chair,
    parasol, grill brush, fire pit, wind chime, gift box, sympathy card, get well card, anniversary card, christmas wreath, advent calendar, balloon pump, deck of cards, jigsaw puzzle, coloring book, football, tennis racket,
    yoga mat, skipping rope, backpack, wallet, purse, tote bag, shopping bag, luggage tag, whole turkey, whole duck, christmas pudding, basil plant, lemon tree, house plant, cactus, ice cream cake, fruit basket, wedding cake,
    pregnancy test, zipper, thimble, crochet hook, funnel, sieve, strainer, rolling cart, mandoline""",
                 """colander, spatula, wheelbarrow, chisel, thermos, aquarium pump, pickaxe, rolling pin, shoehorn""")

# What goes on lists of other names.
GEAR = Lexicon("""socks, shirts, underwear, passport, phone charger, sunglasses, swimsuit, swim trunks, toothbrush, raincoat, jacket, hiking boots, sneakers, sandals, hat, gloves, scarf, pajamas, laptop, headphones, camera, power bank,
    travel pillow, tent, sleeping bag, camping stove, flashlight, rope, map, compass, water bottle, first aid kit,
    sunscreen, beach towel, umbrella, jeans, t shirts, sweater, belt, dress, suit, tie, dress shoes, guitar, bicycle, bike helmet, skateboard, board game, chess set, lego set, puzzle, teddy bear, doll house, watch, necklace, earrings,
    perfume, wool socks, coffee machine, espresso machine, air fryer, blender, stand mixer, cookbook,
    novel, gift card, concert tickets, new phone, tablet, smart watch, keyboard, monitor, desk lamp, office chair, bookshelf, rug, mirror, plywood, screws, wood screws, nails, paint roller, drill, saw, wall plugs, wire, garden chairs,
    tomato seeds, fertilizer, lawn mower, napkins, balloons, paper plates,
    ice, chips, speakers, folding chairs, birthday cake, party hats, candles, snorkel, ski pants, goggles, travel adapter, snacks, diapers, stroller, baby bottles, the godfather, titanic, jaws, the matrix, star wars, casablanca,
    moby dick, the hobbit, paris, rome, japan, iceland, new york,
    leggings, shorts, tank tops, hoodie, fleece jacket, rain jacket, down jacket, hiking socks, thermal underwear, base layer, wool hat, sun hat, baseball cap, beanie, mittens, ski boots, skis, ski poles, ski helmet,
    snowboard, ice skates, snow boots, rain boots, wellies, flip flops, slippers, running shoes, trainers, high heels, blouse, skirt, cardigan, blazer, trench coat, vest, bikini, swim goggles, wetsuit, surfboard, paddle board,
    life jacket, fishing rod, tackle box, bait, cooler, picnic blanket, camping chair, camping table, headlamp, lantern, mosquito net, bug spray, pocket knife, matches, firewood, tarp, tent pegs, air mattress, sleeping pad,
    mess kit, water filter, bear spray, trail map, guidebook, whistle, backpack, duffel bag, suitcase, luggage lock, packing cubes, toiletry bag, toothpaste, travel shampoo, hairbrush, hair dryer, razor, contact lenses,
    reading glasses, medication, painkillers, plasters, eye mask, ear plugs, neck pillow, phone, memory card, tripod, drone, e reader, kindle, game console, nintendo switch, playstation, card game, crossword book, journal,
    diary, pens, sketchbook, crayons, coloring book, stuffed animal, toy train, toy car, fire truck, action figure, roller skates, scooter, tricycle, kite, frisbee, soccer ball, basketball, baseball glove, tennis racket,
    golf clubs, golf balls, yoga mat, dumbbells, kettlebell, resistance bands, jump rope, gym bag, gym towel, protein shake, boarding pass, plane tickets, train tickets, driver's license, cash, credit card, euros,
    birth certificate, insurance card, house keys, car keys, spare key, jumper cables, spare tire, parking pass, road map, snow chains, baby wipes, pacifier, baby blanket, car seat, bibs, onesies, baby carrier, leash,
    dog bowl, dog toys, bracelet, silk scarf, cologne, lipstick, makeup bag, jewelry box, wallet, handbag, leather belt, record player, vinyl records, bluetooth speaker, earbuds, mountain bike, electric scooter, waffle iron,
    toaster oven, knife set, wine glasses, coffee mug, tea set, picture frame, throw blanket, house plant, bird feeder, tool set, cordless drill, circular saw, sander, jigsaw, hammer, screwdriver set, tape measure, wood glue,
    primer, painter's tape, drywall, insulation, lumber, floor tiles, laminate flooring, door handles, light switch, extension cord, pvc pipe, faucet, shower head, fence posts, fence panels, concrete, gravel, mulch,
    grass seed, tulip bulbs, rose bush, apple tree, lavender, strawberry plants, carrot seeds, compost, bookcase, coffee table, dresser, nightstand, mattress, armchair, dining table, bar stools, shelves, storage boxes,
    shoe rack, cutlery, wine rack, streamers, confetti, banner, pinata, goody bags, tablecloth, plastic cups, name tags, cake stand, punch bowl, ice bucket, photo booth, lunch box, pencil case, ruler, calculator, textbooks,
    highlighters, index cards, forrest gump, the lion king, back to the future, jurassic park, spirited away, groundhog day, blade runner, the terminator, parasite, amelie, psycho, vertigo, citizen kane, rear window,
    the shining, pulp fiction, la la land, mamma mia, finding nemo, ratatouille, interstellar, oppenheimer, barbie, chinatown, braveheart, notting hill, love actually, pretty woman, dirty dancing, the sound of music,
    the great gatsby, brave new world, animal farm, the catcher in the rye, dracula, frankenstein, middlemarch, anna karenina, don quixote, the odyssey, the alchemist, the book thief, the kite runner, the martian,
    the secret garden, little women, rebecca, the da vinci code, gone with the wind, venice, barcelona, prague, vienna, lisbon, dublin, edinburgh, amsterdam, berlin, florence, copenhagen, stockholm, istanbul, cairo,
    machu picchu, bali, tokyo, thailand, vietnam, sri lanka, new zealand, australia, hawaii, alaska, the grand canyon, yellowstone, yosemite, patagonia, costa rica, peru, morocco, egypt, south africa, norway, scotland,
    ireland, croatia, greece, sicily, tuscany, treadmill""",
               """binoculars, trekking poles, bathrobe, harmonica, hammock, cufflinks, tweezers, ice axe, dartboard, ukulele, money belt, bow tie, kayak, zanzibar""")
PEOPLE = Lexicon("""mom, dad, grandma, grandpa, my mother, my sister, my brother, my boss, the dentist, the doctor, the plumber, the electrician, the landlord, the bank, the vet, the school, the insurance company, the neighbors,
    the babysitter, the hairdresser, aunt mary, uncle bob, emma, olivia, sophia, anna, maria, julia,
    laura, sarah, lisa, kate, lucy, jane, helen, susan, karen, linda, nora, eva, ella, mia, chloe, hannah, john, peter, paul, mark, tom, james, david, michael, daniel, robert, william, george, henry, jack, oliver, liam, noah, lucas,
    ben, sam, max, alex, chris, kevin, brian, steve, tim, andrew, simon, leo, adam, carlos,
    mr smith, mrs jones, doctor brown, the johnsons, my cousin, my wife, my husband, the accountant, the lawyer, the gardener, the coach, the teacher, the pharmacy, the garage, the office, the post office, rachel, priya, omar, ahmed,
    yuki, chen, fatima, ivan, olga, pierre, jose,
    aaliyah, abigail, adrian, agatha, aisha, akira, alan, alejandro, alice, alicia, amanda, amara, amelia, amina, amir, ana, anders, andrea, anita, anjali, antonio, arjun, arthur, astrid, aurora, ava, axel, barbara, beth,
    bjorn, bogdan, brenda, brianna, bruno, caleb, camila, carla, carmen, caroline, catherine, cecilia, chiara, chidi, christina, claire, clara, colin, connor, dalia, damian, danielle, darius, deborah, deepak, denise, derek,
    diana, dominic, donna, dylan, eduardo, elena, eleni, elias, elif, elijah, elizabeth, emeka, emilia, emre, enrique, erik, erin, esme, esther, ethan, evelyn, farah, fernando, fiona, francesca, freya, gabriel, gareth, gavin,
    giovanni, giulia, gregory, gustav, habib, hamza, haruto, hassan, heather, heidi, hiroshi, ian, ibrahim, igor, imani, ines, irina, isaac, isabella, ismail, jamal, jasmine, javier, jennifer, jin, joanna, jonas, jordan,
    jorge, joshua, juan, kamala, katarina, keiko, kenji, khalid, kiran, kofi, kwame, lars, leila, leticia, lorenzo, louis, luca, luis, magdalena, malik, manuel, marco, margaret, marta, martin, mehmet, mei, melissa, miguel,
    milan, mohammed, monica, nadia, natalia, nathan, nicole, nikolai, nina, nisha, oleg, pablo, patricia, pavel, pedro, philip, rajesh, ramon, raquel, ravi, rebecca, ricardo, roberto, rosa, ryan, samira, sanjay, santiago,
    sergio, sharon, sofia, stefan, stephanie, sunita, svetlana, tariq, teresa, thomas, timothy, valentina, vanessa, vikram, violet, xavier, yasmin, yusuf, zara, zainab, my uncle, my best friend, my neighbor, my roommate,
    my girlfriend, my boyfriend, my niece, my nephew, my manager, my coach, my son, my daughter, my grandparents, my coworkers, my mother in law, my sister in law, my therapist, the cleaner, the nanny, the pediatrician,
    the photographer, the realtor, the florist, the baker, the librarian, the principal, the tax office, the town council, the movers, the painter, the carpenter, the travel agent, the twins, the smiths, the garcias,
    uncle frank, aunt rosa, grandma ruth, grandpa joe, mr lee, mrs green, mr garcia, dr patel, dr wilson, ms taylor, coach mike, cousin eddie""",
                 """veronica, theodore, my stepson, the optician, harriet, mrs patel, the roofer, desmond, bianca, the caterer, aunt gertrude, rashid, gwen, the locksmith""", open=True)
OBJECTS = Lexicon("""fridge, freezer, oven, stove, sink, bathtub, shower, toilet, washing machine, dryer, dishwasher, car, bike, garage door, front door, back door, fence, gate, roof, gutters, window, windows, desk, closet, carpet,
    couch, sofa, table, kitchen table, bookshelf, lawn mower, printer, router, computer, laptop,
    phone, tv, vacuum, coffee maker, microwave, toaster, fish tank, cat litter box, bird cage, grill, pool, deck, porch, mailbox, doorbell, smoke alarm, air filter, water heater, furnace, thermostat, tires, brakes, headlights,
    wiper blades, kitchen drawer, leaky faucet, broken chair, squeaky door, bathroom mirror, bed frame, shoe rack, shed,
    ceiling fan, extractor fan, range hood, kitchen sink, kitchen cabinets, kitchen counter, cutting board, garbage disposal, trash can, recycling bin, compost bin, coffee machine, kettle, blender, mixer, air fryer,
    bread maker, rice cooker, water filter, ice maker, wine cooler, dining table, high chair, coffee table, tv stand, bookcase, armchair, recliner, rocking chair, ottoman, rug, hallway rug, doormat, coat rack, staircase,
    stairs, handrail, attic ladder, attic, basement, cellar, crawl space, laundry room, hot tub, jacuzzi, shower head, shower drain, shower door, bathroom tiles, bathroom fan, toilet seat, towel rack, medicine cabinet, vanity,
    wardrobe, dresser, nightstand, mattress, bunk bed, rocking horse, toy box, playpen, swing set, sandbox, tree house, playhouse, garden shed, garden hose, garden path, flower beds, hedge, lawn, compost heap, pond, pond pump,
    fountain, sprinkler system, driveway, patio, patio furniture, patio door, screen door, garage, garage floor, workbench, tool box, power drill, chainsaw, hedge trimmer, leaf blower, snow blower, generator, solar panels,
    skylight, skylights, siding, drainpipe, downspout, septic tank, water meter, water pump, boiler, radiator, air conditioner, ac filter, fuse box, light switch, wall socket, door handle, door lock, deadbolt, window screen,
    window sill, window frames, blinds, curtain rod, picture frame, wall clock, piano, guitar strings, record player, speakers, projector, remote, game console, camera, tablet, keyboard, headphones, charger, hard drive,
    scooter, stroller, car seat, motorcycle, truck, van, trailer, camper, tent, boat, canoe, rear bumper, car battery, car windows, windshield wipers, license plate, bike chain, bike tires, helmet, chicken coop, dog house,
    dog bed, rabbit cage, hamster cage, bird feeder, beehive, clothes line, suitcase, backpack, umbrella stand, fire extinguisher, carbon monoxide detector, burglar alarm, broken lamp, cracked window, wobbly table,
    creaky stairs, dripping tap, clogged drain, loose doorknob, peeling wallpaper, rusty gate, shutters, tumble dryer""",
                  """chandelier, pergola, terrarium, banister, chimney, dehumidifier, trampoline""")
TASKS = Lexicon("""call the dentist, pay the rent, pick up the kids, water the plants, walk the dog, feed the cat, feed the fish, take out the trash, take out the garbage, take out the recycling, do the laundry, do the dishes,
    wash the dishes, mow the lawn, clean the bathroom, clean the kitchen, vacuum the living room, vacuum the stairs, mop the floor, make the bed,
    change the sheets, fold the laundry, iron the shirts, book a flight, book a hotel, book a table for dinner, book a doctor's appointment, make a dentist appointment, make an appointment with the vet, pay the bills,
    pay the electricity bill, pay the water bill, pay the phone bill, pay the credit card, pay my taxes, do my taxes, file the taxes, renew my passport,
    renew the car insurance, renew my driver's license, renew the library books, return the library books, return the package, return the shoes, mail the letter, mail the package, send the invoice, send the birthday card, send the thank you notes, write the report, finish the report, finish my homework, do my homework, study for the exam, study for the math test,
    prepare the presentation, print the tickets, print the boarding pass, sign the permission slip, sign the contract, check the mail, check the tire pressure, check my email, reply to the email from work, answer the emails,
    back up my computer, back up the photos, update my phone, update my resume, charge the car, charge my phone, wash the car, get the car washed,
    get gas, get a haircut, get the oil changed, take the car to the garage, take the car in for inspection, take the dog to the vet, take the cat to the vet, take my medicine, take my vitamins, take my pills,
    drop off the dry cleaning, pick up the dry cleaning, pick up the package, pick up the prescription, pick up my suit, pick up the cake from the bakery, plan the party,
    plan the trip, plan the vacation, pack for the trip, pack my gym bag, pack the suitcases, clean out the garage, clean out the fridge, clean the gutters, clean the windows, tidy my room, tidy the desk, organize the closet,
    sort the mail, sort the recycling, fix the leaky faucet, fix the bike, fix the fence, hang the picture, hang up the curtains, paint the fence,
    paint the bedroom, assemble the bookshelf, put the bins out, put away the dishes, put gas in the car, change the light bulb, change the air filter, change the oil, change my password, change the batteries in the smoke alarm,
    empty the dishwasher, load the dishwasher, empty the trash, bring in the packages, bring the bins in,
    rake the leaves, shovel the snow, trim the hedge, plant the tomatoes, weed the garden, water the tomatoes, water the lawn, bake a cake for the school, bake cookies for the party, cook dinner for the neighbors, marinate the chicken,
    thaw the chicken, defrost the turkey, set the table, clean the oven, clean the grill, clean the fish tank, clean the litter box, brush the dog, bathe the dog,
    groom the cat, order new checks, cancel the gym membership, cancel my subscription, cancel the newspaper, register for the class, sign up for yoga, sign the kids up for soccer, enroll in the course, apply for the job,
    call the bank, call the doctor's office, call the insurance company, call the school, call my grandmother, call mom back, text the babysitter, text my brother the address,
    email my boss, email the teacher, email the landlord about the heating, invite the neighbors, thank grandma for the gift, wrap the presents, visit grandpa, visit my aunt in the hospital, practice the piano, practice my speech,
    practice guitar, read the contract, read chapter five, read my book, stretch my back, go to the gym, go to the bank, go to the post office,
    go for a run, go running, meditate, exercise, do yoga, do push ups, drink more water, lock the shed, check the smoke alarm, test the smoke alarm, measure the windows, measure the kitchen wall, donate the old clothes,
    sell the old bike, sell the couch,
    recycle the bottles, throw out the old paint, shred the old papers, submit the expenses, transfer the money, ask about the warranty, ask for a raise, tell the kids about the trip, talk to the teacher,
    talk to my boss about vacation, meet with the accountant, schedule a haircut, schedule the car service, schedule the annual checkup, confirm the reservation,
    reschedule the meeting, return the drill to the neighbor, give back the ladder, write a thank you card, write to the landlord, learn my lines, learn spanish, pay the babysitter, pay for the school lunch, look for my keys, look up train times, search for a new apartment, move the car, park the car in the garage, replace the filter, replace the battery, repair the gate,
    sew the button on my coat, shave, take a shower, dust the shelves, scrub the tub, sweep the porch, sweep the kitchen floor, unpack the boxes, unclog the sink, upload the photos, delete the old emails, download the forms,
    fill out the form, fill in the application, fill up the tank, refill the prescription, feed the chickens, feed the rabbit, collect the eggs, walk the neighbor's dog,
    call the electrician, call the plumbing company, call the airline, call the credit card company, call the hotel, call the pharmacy, call the tax office, call the phone company, call grandpa back, call my cousin,
    text my sister happy birthday, text the landlord, email the accountant, email the professor, email the coach, email customer service, mail the tax forms, mail the rent check, mail the postcards, post the parcel,
    pay the gas bill, pay the internet bill, pay the cleaner, pay the insurance, pay the tuition, pay the dog walker, pay off the loan, pick up my glasses, pick up the concert tickets, pick up the library books,
    pick up the kids from practice, take the trash to the dump, take the bike to the shop, take the kids to the park, take the kids to swimming, take the shoes to the cobbler, take the bottles back, take down the decorations,
    take back the sweater, take out the compost, take the rabbit to the vet, drop off the kids, drop off the car, drop off the donation, drop off the package, drop the keys at the office, get the keys copied, get a flu shot,
    get the piano tuned, get the roof inspected, get the watch repaired, get my eyes checked, do the shopping, do my stretches, do the crossword, do the expenses, do a load of towels, do the budget, do my spanish lesson,
    make a dental appointment, make soup for the week, make pancakes for breakfast, make copies of the keys, make a photo book, make a donation, make the guest bed, book a train, book the campsite, book a babysitter,
    book the car wash, book swimming lessons, book the restaurant, book a haircut, book a tennis court, cancel the hotel, cancel the magazine, cancel the dentist appointment, cancel the free trial, cancel my flight,
    change the bed sheets, change the cat litter, change the water filter, change my address, change the tires, check the oil, check the bank statement, check the passport expiry date, check the attic for leaks,
    check the homework, check in for the flight, check my blood pressure, check the mousetraps, check the school calendar, clean the car, clean the shower, clean the microwave, clean the chicken coop, clean the coffee machine,
    clean the bird cage, clean the blinds, clean the basement, clean the stove, clean my glasses, clean up the yard, clean out the closet, collect the parcel, collect the tickets, collect signatures, compare insurance prices,
    compare phone plans, complete the survey, complete the application, contact the bank, contact the lawyer, correct the essays, create a budget, cook dinner, cook the lentils, decorate the tree, decorate the cake,
    deliver the cookies, design the invitations, discuss the schedule, download the tax software, draft the letter, dust the bookshelves, edit the video, empty the compost bin, empty the lunch boxes, exchange the shoes,
    explain the project to tom, extend the lease, feed the neighbor's cat, feed the ducks, feed the baby, feed the tortoise, feed the sourdough starter, file the receipts, file the insurance papers, fill the bird feeder,
    fill the salt shaker, fill out the school form, find a plumber, find a babysitter, find the tax documents, find my passport, finish the puzzle, finish my book, finish the slides, finish the painting, fix the printer,
    fix the tap, fix the zipper, fix the garden gate, fix my glasses, fix the wifi, fold the towels, forward the email to anna, frame the photo, gather the documents, give the dog a bath, give the plants fertilizer,
    give notice to the landlord, give the cat her pills, go to the dentist, go to the farmers market, go for a walk, go swimming, go over the contract, go through the mail, grade the tests, grease the bike chain,
    greet the new neighbors, grill the vegetables, hang the laundry, hang up the mirror, harvest the zucchini, help dad with the computer, help mom with the garden, hire a gardener, install the shelf, install the car seat,
    install the updates, interview the babysitter, invite the cousins, iron my shirt, iron the tablecloth, join the library, label the boxes, label the jars, learn the new song, learn to juggle, look at the tax letter,
    look for a new job, look for the charger, look up the recipe, look into daycare options, measure the bathroom, measure the sofa, meet the teacher, meet anna for coffee, mend the fence, mend my jacket, mow the back yard,
    move the boxes to the attic, move the desk, move the sprinkler, open a savings account, order flea medicine, order new glasses, order school uniforms, order the wedding flyers, organize the garage, organize the photos,
    pack lunch for the kids, pack the diaper bag, pack the car, pack for the weekend, paint the hallway, paint the shed, patch the bike tire, peel the potatoes, phone the school, phone my parents, plan the menu,
    plan the birthday party, plan the lessons, plan dinner, plant the garlic, plant the tulips, plant the herbs, polish the car, practice the violin, practice yoga, practice my presentation, prepare the taxes,
    prepare the lesson, prepare the guest room, prepare dessert, print the photos, print the shipping label, print the tax forms, process the refunds, prune the apple tree, prune the roses, publish the blog post,
    pull the weeds, pull out the sofa, purchase a parking permit, put the laundry away, put up the tent, put up the shelves, put the cushions out, put the roast in the oven, put the winter clothes away, put fuel in the mower,
    read the lease, read the report, read a story to the kids, receive the delivery, recharge the bus card, record my podcast, refund the customer, register the car, register to vote, renew my membership,
    renew the parking permit, renew the domain, renew the dog license, rent a van, rent a carpet cleaner, rent skis, repaint the door, repair the roof, repair the bike, repair the lawn mower, replace the bulbs,
    replace the toilet seat, replace the broken tile, replace the toothbrush heads, reply to aunt mary, report the pothole, report the lost card, request a refund, request vacation days, research hotels, research schools,
    reserve a table, reserve the campsite, reserve a rental car, resolve the billing issue, restock the freezer, return the sweater, return the modem, return the cake tin, return the rental car, review the budget,
    review the contract, review the slides, revise my essay, rinse the recycling, roast the pumpkin, sand the table, save the receipts, schedule a massage, schedule the vet visit, schedule the furnace service,
    schedule a dentist appointment, seal the deck, sell the stroller, sell my textbooks, sell the concert tickets, send the contract, send the wedding invitations, send the package, send the photos to grandma,
    separate the recycling, service the boiler, sew the hem, sew the costume, share the photos, shorten the trousers, sign the lease, sign the report card, sign up for swimming lessons, sign up for the race, sort the laundry,
    sort the toys, sort the photos, spray the roses, stack the firewood, start the compost, start the sourdough, store the winter tires, straighten the bookshelf, study spanish, study for the driving test,
    submit the application, submit my homework, submit the tax return, sweep the garage, sweep the patio, take a walk, take a photo for my passport, take the cake to the office, talk to the landlord, talk to the bank,
    talk to sarah about the trip, tell mom about the visit, test the fire alarm, test the paint, thank the neighbors, throw away the boxes, throw out the expired food, tidy the garage, tidy the kids room, tidy up the basement,
    transfer rent money, translate the letter, treat the dog for fleas, treat the lawn, trim the roses, trim the beard, trim the tree, turn in the library books, turn in my essay, turn the compost, type up the notes,
    unclog the drain, unload the car, unload the dishwasher, unpack the suitcase, update the website, update the budget, update the address book, update the antivirus, upgrade my phone plan, vacuum the car, vacuum the bedroom,
    vacuum the sofa, visit the dentist, visit grandma, visit my parents, visit the new neighbors, vote, walk the puppy, walk to the store, wash the towels, wash the dog, wash the bedding, wash my hair, wash the curtain,
    wash the baby clothes, water the garden, water the houseplants, water the neighbor's plants, wax the skis, weigh the luggage, wipe the counters, wipe down the shelves, work on my thesis, work out, work on the budget,
    wrap the birthday present, wrap the leftovers, write a letter to grandma, write a cover letter, write the blog post, write the eulogy, write a review, write my diary, write a poem for anna""",
                """winterize the cabin, file a claim, notarize the deed, renew my gym pass, bleed the radiators, prune the rosebushes, oil the hinges, weatherproof the deck, sharpen the knives, book a massage, rotate the mattress, rehearse the toast, proofread my essay, tune the violin, return the tuxedo, pay the parking fine, polish the silverware, water the ferns,
                take the clarinet to practice, regrout the shower, deworm the puppy, wash the windshield, call the piano tuner, darn the socks, adopt a kitten, exfoliate, pick up the wedding rings, cancel the cable, mail the ballot""",
                open=False)
CHORES = Lexicon("""laundry, taxes, dishes, ironing, homework, vacuuming, dusting, dentist appointment, doctor's appointment, haircut, car insurance, oil change, passport renewal, electricity bill, rent, math homework, grocery run, gym, yoga, dog walk, spring cleaning, tax return, phone bill, birthday party, school trip, parent teacher meeting, piano lesson, library books, water bill,
    mom's birthday, anniversary, wedding gift, team meeting, job application, science project, thank you cards, holiday cards, car inspection, flu shot, garden work,
    grocery shopping, meal planning, meal prep, gardening, weeding, lawn mowing, snow shoveling, leaf raking, window cleaning, carpet cleaning, oven cleaning, dry cleaning, recycling, trash pickup, bin day, gas bill,
    internet bill, credit card bill, parking ticket, car wash, car registration, tire change, brake check, boiler service, furnace check, gutter cleaning, pest control, plumber visit, roof repair, leaky tap,
    bathroom renovation, kitchen painting, doctor visit, dental cleaning, blood test, physical therapy, vet appointment, dog grooming, flea treatment, prescription refill, optician appointment, driving test, driving lesson,
    swimming lesson, soccer practice, guitar practice, choir rehearsal, history homework, science homework, term paper, thesis, spelling test, math test, school forms, permission slip, school uniforms, class photos, bake sale,
    parents evening, job interview, performance review, expense report, quarterly report, sales report, budget, presentation, slides, newsletter, client call, conference call, status update, code review, time sheet,
    travel booking, hotel booking, flight tickets, house insurance, health insurance, bank appointment, loan application, rent increase letter, lease renewal, moving boxes, apartment viewing, furniture delivery,
    wedding invitations, seating chart, anniversary dinner, grandma's birthday, dad's present, emma's recital, birthday cake, christmas cards, christmas shopping, easter baskets, halloween costume, new year's resolutions,
    photo album, family photos, library fine, blood donation, workout, morning run, spanish lesson, piano practice, bike repair, phone upgrade, computer backup, password changes""",
    """eye exam, mortgage payment, book report, vaccination,
    chimney sweep""", open=False)
LISTS = Lexicon("""packing, christmas, wish, hardware store, birthday, camping, travel, vacation, holiday, party, guest, gift, reading, book, books to read, movie, movies to watch, watch, bucket, work, school, office, garden, cleaning,
    baby, wedding, moving, house, home improvement, project, costco, ikea, target, walmart, aldi, drugstore, pharmacy, hiking, beach, road trip, ski trip,
    weekend, summer, thanksgiving, easter, halloween, new year's, kids, dog, cat, pet, medicine, recipe, dinner, breakfast, meal, lunch box, menu, restaurant, places to visit, places, present, presents, gifts, toy, clothes, garage,
    tool, tools, repair, diy, home depot, paint, farmer's market, market, bakery, butcher, santa, suitcase, picnic, barbecue, cookout,
    game night, team, fitness, workout, goals, ideas, gift ideas, projects, back to school, invitation, favorites, song, wine, craft, study, exam, errands, honey do, in case of emergency, emergency, first aid, car, boat, cabin,
    house hunting, new house, interview,
    anniversary, new job, college, dorm, kindergarten, daycare, babysitter, nursery, newborn, diaper bag, hospital bag, hospital, doctor, dentist, vet, medication, vitamins, allergy, vegan, vegetarian, low carb, snack, lunch,
    supper, dessert, baking, cookie, cake, soup, salad, smoothie, drinks, beer, coffee, tea, freezer, fridge, spices, meal plan, meal prep, recipes to try, restaurants to try, cafes, trader joe's, whole foods, lidl, tesco,
    sainsbury's, asda, waitrose, kroger, safeway, publix, best buy, amazon, lowe's, dollar store, pet store, garden center, corner shop, fishmonger, flea market, farm shop, farm, allotment, seeds, planting, flower, vegetable,
    balcony, yard work, yard sale, garage sale, spring, autumn, winter, bonfire night, eid, passover, lunar new year, mother's day, father's day, bachelor party, hen party, engagement, bridesmaids, housewarming, graduation,
    retirement, reunion, family reunion, sleepover, birthday party, party food, guests, thank you, secret santa, stocking stuffer, stocking, city break, cruise, backpacking, festival, caravan, day trip, weekend trip,
    business trip, summer camp, carry on, flight, hotel, luggage, toiletries, outfits, wardrobe, shoes, makeup, skincare, crochet, yarn, fabric, art supplies, lego, board games, video games, shows to watch, series,
    documentaries, films, netflix, theatre, audiobooks, poems, quotes, vocabulary, homework, research, interview questions, meeting, agenda, client, sales, freelance, tax, budget, bills, subscriptions, insurance, contacts,
    bedtime, urgent, long term, self care, habits, resolutions, gratitude, dream, date ideas, date night, baby names, dog names, places to eat, countries to visit, hikes, climbing, cycling, bike parts, running, swimming,
    football, soccer, hockey, golf, surfing, fishing, hunting, sports, borrowed things, donation, charity, church, bake sale, potluck, apartment, roommate, landlord, maintenance, renovation, kitchen, bathroom, basement, attic,
    laundry, workshop, hardware, plumbing, woodworking, painting, decorating, furniture, appliances, storage, hurricane, power outage, medicine cabinet, horse, rabbit""",
                """sailing, souvenir, hanukkah, prom, fishing trip, baby shower, thrift store, volunteer, chemistry, plants to buy, honeymoon, scavenger hunt""")

SINGULAR = "passport,swimsuit,raincoat,jacket,hat,scarf,laptop,camera,tent,sleeping bag,rope,map,compass,umbrella,sweater,belt,dress,suit,tie,guitar,bicycle,skateboard,puzzle,watch,necklace,drill,saw,mirror,rug,blender,stroller,tablet".split(",")

CONTAINERS = {  # with what a drink, a dry good ... is bought
    "drinks": ["bottle", "bottle", "bottle", "carton", "can", "gallon", "liter", "pack", "case", "six pack", "pint", "quart", "litre"],
    "dry": ["bag", "box", "pack", "packet", "jar", "can", "pound", "kilo", "tin", "package", "loaf", "sack", "bar"],
    "fresh": ["pound", "pack", "kilo", "package", "piece", "bag", "pack", "slice"],
    "plural": ["bag", "box", "pack", "pound", "kilo", "packet", "package", "bunch", "can", "dozen", "tin", "basket"],
    "house": ["bottle", "box", "pack", "tube", "package", "packet"],
}
KINDS = [("drinks", DRINKS), ("dry", DRY), ("dry", DRY), ("fresh", FRESH), ("fresh", FRESH), ("plural", PLURALS), ("plural", PLURALS), ("plural", PLURALS), ("house", HOUSE), ("thing", THINGS)]
STUFF = {w for kind, lexicon in KINDS if kind != "thing" for w in lexicon.train + lexicon.held}
LOAVES = {"box": "boxes", "loaf": "loaves", "bunch": "bunches"}
QUALITIES = {"plural": ["fresh", "organic", "frozen", "big", "small", "ripe", "cheap"], "fresh": ["fresh", "organic", "frozen", "sliced", "cheap"], "dry": ["organic", "gluten free", "cheap"], "drinks": ["organic", "cold", "cheap"]}
# Tasks that are also requests to an assistant: only where the wording says that they are to be kept.
COMMANDS = ["turn off the sprinkler", "turn off the oven", "turn off the lights", "turn off the heater", "turn down the heating", "turn off the tv", "turn on the dishwasher", "lock the front door", "lock the doors",
    "close the garage door", "close the windows", "set the alarm", "set an alarm", "check the thermostat",
            "play with the kids", "play my voicemail", "switch off the iron", "turn up the heating", "check the weather", "open the windows", "turn up the fridge", "make a list", "read the news", "listen to the album",
            "start the washing machine", "check the time of the train", "add up the receipts"]


def a(word):
    return ("an " if word[0] in "aeiou" else "a ") + word


def count(g):
    return g.say_number(g.number(2, 12) if g.chance(0.8) else g.number(13, 60))


def amount(g, kind, w):
    """A good with an amount: (as said, as kept)."""
    if kind == "thing":
        return (a(w), w)
    if kind == "plural" and g.chance(0.6):
        if g.chance(0.1):
            return g.pick([(f"a dozen {w}", f"dozen {w}"), (f"two dozen {w}",) * 2, (f"half a dozen {w}",) * 2, (f"a couple of {w}", f"couple of {w}")])
        t = f"{count(g)} {w}"
        return t, t
    if kind in ("dry", "fresh") and g.chance(0.12):
        t = g.pick([f"{g.say_number(g.number(100, 900, 50))} grams of {w}", f"half a pound of {w}", f"half a kilo of {w}", f"{g.say_number(g.number(2, 16))} ounces of {w}"])
        return t, t
    if kind != "house" and g.chance(0.07):
        n, u = g.pick([(g.number(100, 900, 50), "g"), (g.number(1, 5), "kg"), (g.number(1, 8), "lb"), (g.number(2, 5), "kilos"), (g.number(2, 6), "pounds")] if kind != "drinks" else [(g.number(250, 750, 250), "ml"),
            (g.number(1, 4), "l"), (g.number(2, 4), "liters"), (g.number(2, 4), "litres")])
        t = f"{n}{g.pick(['', ' ', ' ']) if len(u) < 3 else ' '}{u} {g.pick(['of ', 'of ', ''])}{w}"
        return t, t
    c = g.pick(CONTAINERS[kind])
    if g.chance(0.5):
        big = g.pick(["", "", "", "", "big ", "large ", "small "]) if c in ("bottle", "carton", "can", "pack", "bag", "box", "jar", "tube", "package") else ""
        return a(f"{big}{c} of {w}"), f"{big}{c} of {w}"
    n = g.number(2, 8)
    t = f"{g.say_number(n)} {c if c == 'dozen' else LOAVES.get(c, c + 's')} of {w}".replace("dozen of", "dozen")
    return t, t


def good(g, plain=False, solo=False):
    """One good to buy: (as said, as kept). plain: nothing before it; solo: one real word, for enumerations without commas."""
    kind, lexicon = g.pick(KINDS[:-1] if solo else KINDS)
    if solo:
        options = [w for w in (lexicon.held if g.held else lexicon.train) if " " not in w]
        return (g.pick(options),) * 2
    w = g.word(lexicon)
    if plain:
        return w, w
    if kind != "thing" and g.chance(0.05):
        w = f"{g.pick(QUALITIES[kind])} {w}" if kind in QUALITIES else w
    p = g.rng.random()
    if p < 0.25:
        return amount(g, kind, w)
    if kind == "thing":
        return g.pick([(a(w), w), (a(w), w), (a("new " + w), "new " + w), (w, w), ("the " + w, w), ("another " + w, w)])
    if p < 0.38:
        return g.pick(["some", "some", "some", "more", "some more", "the", "a few" if kind == "plural" else "a bit of"]) + " " + w, w
    return w, w


def enumerate_(g, pairs, goods=False):
    """Several things in a row, as people say and write them: (as said, list as kept)."""
    said, kept = [p[0] for p in pairs], [p[1] for p in pairs]
    if len(pairs) == 1:
        return said[0], kept
    last = g.pick([" and "] * 8 + [", and ", " and also ", " plus ", " as well as ", " and some " if goods and said[-1] in STUFF else " and "])
    if len(pairs) == 2:
        return last.join(said), kept
    if g.chance(0.15):
        return " and ".join(said), kept
    return ", ".join(said[:-1]) + last + said[-1], kept


def distinct(g, n, make):
    pairs = []
    for _ in range(12):
        p = make()
        if len(pairs) < n and p[1] not in [q[1] for q in pairs]:
            pairs.append(p)
    return pairs


def items(g, most=4):
    n = min(most, g.pick([1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 4]))
    if n > 2 and g.chance(0.5):  # "milk eggs and bread"
        pairs = distinct(g, n, lambda: good(g, solo=True))
        said = [p[1] for p in pairs]
        return (" ".join(said) if g.chance(0.25) else " ".join(said[:-1]) + " and " + said[-1]), said
    return enumerate_(g, distinct(g, n, lambda: good(g)), goods=True)


def stuff(g):
    """A good that is not a single thing, with nothing before it."""
    w = g.word(g.pick([DRINKS, DRY, DRY, FRESH, FRESH, PLURALS, PLURALS, PLURALS, HOUSE]))
    return w, w


def bare(g):
    return enumerate_(g, distinct(g, g.pick([1, 1, 1, 1, 2]), lambda: stuff(g)))


def asked(g):
    """One good that is asked after."""
    if g.chance(0.1):
        w = g.word(THINGS)
        return a(w), [w]
    w = stuff(g)[0]
    return w, [w]


def of_lexicon(*lexicons):
    def slot(g):
        w = g.word(g.pick(lexicons))
        return w, [w]
    return slot


def one_task(g):
    """One task in the infinitive."""
    if g.chance(0.6):
        return g.word(TASKS)
    if g.chance(0.3):
        return g.pick(["fix", "clean", "check", "repair", "replace", "move", "measure", "look at", "inspect", "clean up", "get rid of"]) + " the " + g.word(OBJECTS)
    p = g.word(PEOPLE)
    return g.pick([f"call {p}", f"call {p}", f"call {p} back", f"text {p}", f"email {p}", f"write to {p}", f"visit {p}", f"meet {p}", f"ask {p} about the {g.pick(['party', 'trip', 'car', 'key', 'recipe', 'money', 'tickets', 'weekend'])}",
                   f"send {p} the {g.pick(['photos', 'documents', 'invoice', 'address', 'recipe', 'key', 'form', 'money'])}", f"talk to {p} about the {g.pick(['party', 'trip', 'car', 'house', 'meeting', 'bill'])}",
                   f"pick up {p} from {g.pick(['school', 'the airport', 'the station', 'practice', 'work', 'daycare'])}", f"drive {p} to {g.pick(['school', 'the airport', 'the doctor', 'soccer practice', 'the station'])}",
                   f"thank {p} for the {g.pick(['gift', 'flowers', 'help', 'dinner'])}", f"return the {g.pick(['book', 'drill', 'ladder', 'key', 'cake tin'])} to {p}",
                       f"invite {p} to {g.pick(['dinner', 'the party', 'lunch', 'the wedding'])}",
                   f"pay {p} back", f"give {p} the spare key", f"wish {p} a happy birthday", f"find a present for {p}", f"answer {p}", f"check on {p}", f"help {p} with the {g.pick(['move', 'homework', 'computer', 'garden'])}",
                       f"remind {p} about the {g.pick(['bill', 'meeting', 'party'])}"])


def to_buy(g):
    """Something to buy as a task: where the wording is that of a reminder."""
    kind, lexicon = g.pick(KINDS)
    w = g.word(lexicon)
    how = g.pick(["", "", "", "some ", "more ", "the "]) if kind != "thing" else g.pick(["a", "a", "the "])
    w = f"{g.pick(['buy', 'buy', 'get', 'pick up', 'order', 'grab'])} {a(w) if how == 'a' else how + w}"
    return w, [w]


def echoed(g):
    """A good said twice: "batteries we need batteries"."""
    w = stuff(g)[0]
    return g.pick([f"{w} we need {w}", f"{w} i need {w}", f"{w} yes {w}", f"{w} we're out of {w}", f"{w} add {w}"]), [w]


def tasks(g):
    pairs = distinct(g, g.pick([1, 1, 1, 1, 2]), lambda: (one_task(g),) * 2)
    kept = [p[1] for p in pairs]
    return g.pick([" and ", " and ", " and ", " and also ", " and then ", ", ", ", and ", " and to "]).join(kept), kept


def listed_tasks(g):
    """What is put on a to-do list that is named as such: a task, a noun for one, something to buy."""
    p = g.rng.random()
    if p < 0.2:
        return enumerate_(g, distinct(g, g.pick([1, 1, 1, 2]), lambda: (g.word(CHORES),) * 2))
    if p < 0.3:
        w = f"{g.pick(['buy', 'get', 'pick up', 'order'])} {good(g, plain=True)[1]}"
        return w, [w]
    pairs = distinct(g, g.pick([1, 1, 1, 1, 2, 3]), lambda: (one_task(g),) * 2)
    return enumerate_(g, pairs)


def one_listed_task(g):
    w = one_task(g) if g.chance(0.8) else g.word(CHORES)
    return w, [w]


def topic(g):
    w = g.word(CHORES)
    owner = "" if "'s" in w.split()[0] else g.pick(["the ", "the ", "my "])
    return owner + w, ["my " + w if owner == "my " else w]  # an article is dropped, an owner is not


IRREGULAR = {  # past, participle, -ing
    "pay": ("paid", "paid", "paying"), "feed": ("fed", "fed", "feeding"), "take": ("took", "taken", "taking"), "do": ("did", "done", "doing"), "make": ("made", "made", "making"), "send": ("sent", "sent", "sending"), "write": ("wrote",
    "written", "writing"),
    "get": ("got", "got", "getting"), "put": ("put", "put", "putting"), "hang": ("hung", "hung", "hanging"), "bring": ("brought", "brought", "bringing"), "set": ("set", "set", "setting"), "read": ("read", "read", "reading"),
    "go": ("went", "gone", "going"), "drink": ("drank", "drunk", "drinking"),
    "sell": ("sold", "sold", "selling"), "throw": ("threw", "thrown", "throwing"), "tell": ("told", "told", "telling"), "meet": ("met", "met", "meeting"), "give": ("gave", "given", "giving"), "sew": ("sewed", "sewn", "sewing"),
    "sweep": ("swept", "swept", "sweeping"), "drive": ("drove", "driven", "driving"),
    "buy": ("bought", "bought", "buying"), "bleed": ("bled", "bled", "bleeding"), "back": ("backed", "backed", "backing"), "study": ("studied", "studied", "studying"), "tidy": ("tidied", "tidied", "tidying"), "reply": ("replied",
    "replied", "replying"), "apply": ("applied", "applied", "applying"),
    "find": ("found", "found", "finding"), "learn": ("learned", "learned", "learning"), "shovel": ("shoveled", "shoveled", "shoveling"), "cancel": ("canceled", "canceled", "canceling"), "water": ("watered", "watered", "watering"),
    "empty": ("emptied", "emptied", "emptying"), "defrost": ("defrosted", "defrosted", "defrosting"), "thaw": ("thawed", "thawed", "thawing"),
}
REGULAR = """organize sanitize sterilize modernize digitize memorize finalize customize itemize prioritize tenderize caramelize standardize categorize alphabetize personalize neutralize optimize decorate renovate calibrate insulate
    ventilate lubricate fumigate laminate hydrate marinate relocate estimate evaluate activate automate coordinate donate duplicate excavate generate illustrate inflate deflate investigate negotiate nominate populate regulate
    separate simulate translate update validate verify notify certify modify clarify purify simplify specify tape glue prune store change arrange exchange rinse raise reverse release receive retrieve remove resolve revise
    rescue restore secure serve service slice smoke squeeze trade trace value wire glaze erase encode examine explore frame grate handle improve locate merge name operate outline paste pave place paint plant patch polish pack
    unpack roast toast test sort stack screw sand seal soak stain weed wax weigh weld vacuum unblock upload download unlock load unload order open obtain mount mend melt list lift level launch label kick join inspect install import
    heat grill fold fill enter enroll drain dust deliver crush correct cook confirm collect coat clear buff brush board bolt block attach assemble adjust scrape carry bury copy dry fry supply foil boil coil soil bail nail mail sail
    prune dine refine define combine line mine stone phone zone clone bake rake stake solve move shove glove save shave pave rehearse nurse curse purchase chase lease cease crease close pose dose rotate irrigate pollinate aerate
    excuse infuse defuse fuse ruse pause bruise cruise praise appraise browse rouse house""".split()
DOUBLED = {"mop", "drop", "plan", "scrub", "trim", "submit", "unclog", "scan", "wrap", "transfer"}


def inflect(task, form):
    """A task as done: form 0 past, 1 participle, 2 -ing."""
    verb, _, rest = task.partition(" ")
    if verb in IRREGULAR:
        w = IRREGULAR[verb][form]
    elif verb in DOUBLED:
        w = verb + verb[-1] + ("ed", "ed", "ing")[form]
    elif verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        w = (verb + "ing") if form == 2 else verb[:-1] + "ied"
    elif verb.endswith("e"):
        w = verb[:-1] + ("ed", "ed", "ing")[form]
    else:
        w = verb + ("ed", "ed", "ing")[form]
    return f"{w} {rest}".strip()


def inflected(form):
    def slot(g):
        w = one_task(g)
        if not g.held and g.chance(0.3):  # another verb: how its past is made is to be learnt, not which pasts there are
            verb = g.pick(REGULAR) if g.chance(0.75) else g.invented() + g.pick(["ize", "ate", "ify"])
            if verb not in Lexicon.held_out and " " in w:
                w = f"{verb} {w.partition(' ')[2]}"
        return inflect(w, form), [w]
    return slot


def named_things(g):
    """What goes on a list with a name of its own: things of one kind."""
    p = g.rng.random()

    def make():
        if p < 0.62:
            w = g.word(GEAR)
            if w.endswith("s") and not w.endswith("ss") and w not in ("paris", "jaws", "star wars", "compass", "swim trunks", "ski pants", "jeans") and g.chance(0.12):
                return (f"{count(g)} {w}",) * 2
            if w in SINGULAR and g.chance(0.5):
                return g.pick([a(w), "the " + w, "my " + w]), w
            return w, w
        if p < 0.8:
            return good(g)
        if p < 0.9:
            w = g.word(PEOPLE)
            return w, w[4:] if w.startswith("the ") else w
        return (one_task(g),) * 2
    said, kept = enumerate_(g, distinct(g, g.pick([1, 1, 1, 2, 2, 3]), make))
    return said, kept


def named_one(g):
    w = g.word(GEAR) if g.chance(0.75) else good(g, plain=True)[1]
    return w, [w]


def list_name(g):
    w = g.word(LISTS)
    return w, w


def some_list(g):
    """Any list by its name, for turns that change over to it."""
    p = g.rng.random()
    if p < 0.35:
        return g.pick(["shopping list", "grocery list", "groceries"]), "shopping"
    if p < 0.7:
        return g.pick(["to do list", "todo list", "to-do list", "task list", "tasks", "to dos"]), "to-do"
    w = g.word(LISTS)
    return w + " list", w


def removable(g):
    """Goods to take off: with "the" or nothing."""
    pairs = distinct(g, g.pick([1, 1, 1, 1, 2, 2, 3]), lambda: good(g, plain=True) if g.chance(0.9) else good(g))
    pairs = [("the " + p[1], p[1]) if p[0] == p[1] and (g.chance(0.4) or p[1] in THINGS.train + THINGS.held) else p for p in pairs]
    return enumerate_(g, pairs)


# What the lists hold in this conversation, so that later answers agree with earlier ones.

def sample(g, name, n):
    if name == "shopping":
        return [p[1] for p in distinct(g, n, lambda: good(g, plain=g.chance(0.8)))]
    if name == "to-do":
        return [p[1] for p in distinct(g, n, lambda: (one_task(g) if g.chance(0.85) else g.word(CHORES),) * 2)]
    return [p[1] for p in distinct(g, n, lambda: (g.word(PEOPLE if name in ("guest", "invitation") else GEAR),) * 2)]


def contents(g, name, most=5):
    known = g.__dict__.setdefault("lists", {})
    if name not in known:
        known[name] = sample(g, name, g.pick([0, 1, 1, 2, 2, 3, 3, 3, 4, 5][: most * 2]))
    g.last_list = name
    return known[name]


def earlier(g):
    """One or two things that are on the list of the turn before; now and then one that is not."""
    name = getattr(g, "last_list", "shopping")
    here = g.__dict__.get("lists", {}).get(name, [])
    new = getattr(g, "last_items", [])
    pool = [w for w in new if w in here] or here
    chosen = [g.pick(pool)] if pool and g.chance(0.93) else sample(g, name, 1)
    if len(pool) > 2 and g.chance(0.2):
        chosen = distinct(g, 2, lambda: (g.pick(pool),) * 2)
        chosen = [p[0] for p in chosen]
    the = "the " if name == "shopping" and g.chance(0.7) else ""
    return " and ".join((the + w).replace("the the", "the") for w in chosen), chosen


def ticked(g):
    """That something on the list of the turn before is had or done."""
    name = getattr(g, "last_list", "shopping")
    here = g.__dict__.get("lists", {}).get(name, []) or sample(g, name, 1)
    w = g.pick(here)
    if name == "to-do":
        past = inflect(w, 0) if w in TASKS.train + TASKS.held or w.split()[0] in ("fix", "clean", "check", "call", "text", "email", "visit") else None
        said = g.pick([f"i {past}", f"i already {past}", f"i've already {inflect(w, 1)}", f"{w} is done", f"done {inflect(w, 2)}"]) if past else f"{w} is done"
    elif name == "shopping":
        said = g.pick(["i got ", "got ", "i've got ", "i bought ", "we already have ", "i already got ", "we've got "]) + g.pick(["the ", ""]) + w
    else:
        said = g.pick(["i got ", "i've got ", "i already have ", "got "]) + w
    return said.replace("the the ", "the "), [w]


def added(g, v, args):
    c = contents(g, args["list"], 3)
    c.extend(w for w in args["items"] if w not in c)
    g.last_items = args["items"]
    return {"ok": True}


def removed(g, v, args):
    c = contents(g, args["list"], 3)
    if not v.get("prev") or any(k in v for k in ("gone", "dotask", "onething", "done")):
        if g.chance(0.1):
            return missing(g.pick(args["items"]), args["list"])
    else:
        for w in args["items"]:
            if w not in c:
                return missing(w, args["list"])
    g.lists[args["list"]] = [w for w in c if w not in args["items"]]
    return {"ok": True}


def missing(w, name):
    many = name != "to-do" and w.endswith("s") and not w.endswith("ss")
    return {"error": f"{w} {'are' if many else 'is'} not on the list"}


def read(g, v, args):
    """The list; what was asked after is on it half of the time."""
    name = args["list"]
    known = name in g.__dict__.get("lists", {})
    if name not in ("shopping", "to-do") and not known and g.chance(0.1):
        g.last_list, g.last_items = name, []
        return {"error": f"there is no {name} list"}
    c = contents(g, name)
    wanted = v.get("one") or v.get("onetask") or v.get("onething") or v.get("plural")
    if wanted and not known and g.chance(0.5) and len(c) < 5:
        c.extend(w for w in wanted if w not in c)
    g.last_items = list(c)
    return {"items": list(c)}


def cleared(g, v, args):
    name = args["list"]
    c = g.__dict__.setdefault("lists", {}).get(name)
    g.last_list, g.last_items = name, []
    if c == [] or (c is None and g.chance(0.08)):
        g.lists[name] = []
        return {"error": f"the {name} list is already empty"}
    g.lists[name] = []
    return {"ok": True}


def sentence(error):
    return error[:1].upper() + error[1:] + "."


def say_added(g, v, args, result):
    return f"Added {joined(args['items'])} to your {args['list']} list."


def say_removed(g, v, args, result):
    return sentence(result["error"]) if "error" in result else f"Removed {joined(args['items'])} from your {args['list']} list."


def say_read(g, v, args, result):
    if "error" in result:
        return sentence(result["error"])
    return f"Your {args['list']} list has {joined(result['items'])}." if result["items"] else f"Your {args['list']} list is empty."


def say_cleared(g, v, args, result):
    return sentence(result["error"]) if "error" in result else f"Cleared your {args['list']} list."


ITEM_SLOTS = ("dotask", "tobuy", "echoed", "ticked", "items", "bare", "mass", "plural", "gone", "one", "tasks", "listed", "onetask", "topic", "command", "past", "done", "doing", "things", "onething", "earlier")


def to_list(tool, name=None):
    """The call: to the list of this name, else to the one that was said, else to that of the turn before."""
    def call(v):
        args = {"list": name or v.get("list") or v.get("alist") or v["prev"].get("args", {}).get("list", "shopping")}
        found = next((v[k] for k in ITEM_SLOTS if k in v), None)
        if tool in ("add_to_list", "remove_from_list"):
            args["items"] = list(found if found is not None else v["prev"].get("args", {}).get("items", []))
        return tool, args
    return call


SLOTS = {
    "items": items, "bare": bare, "mass": of_lexicon(DRINKS, DRY, FRESH, HOUSE), "plural": of_lexicon(PLURALS), "gone": removable, "one": asked,
    "tobuy": to_buy, "dotask": lambda g: (lambda w: (w, [w]))(one_task(g)), "ticked": ticked, "echoed": echoed, "tasks": tasks, "listed": listed_tasks, "onetask": one_listed_task, "topic": topic,
    "command": lambda g: (lambda w: (w, [w]))(g.pick(COMMANDS)), "past": inflected(0), "done": inflected(1), "doing": inflected(2),
    "things": named_things, "onething": named_one, "list": list_name, "alist": lambda g: (lambda w: (a(w), w))(g.word(LISTS)), "other": some_list, "earlier": earlier,
}

MACROS = {
    "BUYLIST": "(the shopping list|my shopping list|the list|shopping list|my list|the grocery list|list|grocery list|our list|the groceries|groceries|the shopping)",
    "DOLIST": "(my to do list|to do list|the to do list|my to-do list|my todo list|todo list|my to-dos|my to dos|my todos|my tasks|the todo list|my to-do's)",
    "THELIST": "(the {list} list|my {list} list|{list} list|our {list} list)",
    "SHOPS": "(the shopping list|my shopping list|our shopping list|the grocery list|my grocery list|our grocery list|the groceries list)",  # said by name
    "SHOP": "(the shopping list|my shopping list|the grocery list|my grocery list|our shopping list|our grocery list|the list|my list|our list|the groceries list)",  # or just "the list"
    "GROC": "(the groceries|my groceries|the shopping|our groceries|our shopping)",
    "TODO": "(my to do list|the to do list|my todo list|my to-do list|the todo list|my task list|the task list|our to do list|my tasks|my to dos|my list of tasks|my list of things to do)",
    "ANYTODO": "(my to do list|the to do list|my todo list|my to-do list|my task list|my list|the list|our list|my tasks)",
    "NAMED": "(my {list} list|the {list} list|our {list} list|my {list} list|the list called {list}|the list named {list}|my list called {list})",
    "OWN": "(my {list} list|the {list} list|our {list} list)",  # where the name must end before what follows it
    "STORE": "(the store|the supermarket|the shop|the grocery store|the shops|the market)",
}


def lines(patterns):
    out = []
    for p in patterns:
        for k in ("BUYLIST", "DOLIST", "THELIST", "ANYTODO", "SHOPS", "SHOP", "GROC", "TODO", "NAMED", "OWN", "STORE"):
            p = p.replace(k, MACROS[k])
        out.append(p)
    return out


ADDS = ("lists.add", "lists.add.task", "lists.add.named", "lists.more", "lists.more.task", "lists.more.named")
READS = ("lists.read", "lists.read.task", "lists.read.named", "lists.read.other", "lists.read.again")
REMOVES = ("lists.remove.more", "lists.putback", "lists.remove", "lists.remove.task", "lists.remove.named", "lists.remove.that", "lists.undo")

INTENTS = [
    Intent(
        "lists.add", weight=3,
        patterns=lines([
            "add {items} to SHOP", "add {items} to SHOP", "add {items} to GROC", "(put|write|get|place|stick|pop) {items} (on|onto) SHOP", "(throw|chuck|toss|jot|note|enter) {items} (on|onto|down on) SHOP", "put {items} down on SHOP",
            "add {items} to BUYLIST", "(put|stick|pop|chuck|bung|whack|get) {items} on BUYLIST", "{items} (on|to|for) BUYLIST", "add {items} (in|on|into) BUYLIST", "(put|write) {items} (in|into|down in|to) BUYLIST",
            "{items} (shopping list|grocery list|groceries)", "(shopping list|grocery list|shopping|groceries|my shopping list) {items}", "we're out of {bare} (put|stick|get|pop) (it|some|them) on (the list|the shopping list|my list)",
            "out of {bare} (put|stick|chuck) (it|some) on the list", "we need {bare} put (it|that|some) on the list", "{echoed}", "oh and {echoed}", "oh {echoed}",
            "include {items} (in|on) SHOP", "put {items} in with GROC",
            "add {items}", "add {items} [to buy]", "add {items} for me to buy", "add to SHOP {items}", "put on SHOP {items}", "on SHOP put {items}", "on SHOP add {items}", "to SHOP add {items}", "SHOPS add {items}",
            "(shopping list|grocery list) {items}", "(shopping list|grocery list|groceries) add {items}",
            "{items} (to|on|onto) SHOP", "{items} for SHOPS", "for SHOPS {items}", "{items} go on SHOP", "{items} on the list please", "{items} should (be|go) on SHOP", "{items} (must|has to|have to|needs to|need to) go on SHOP",
            "can {items} go on SHOP", "i want {items} on SHOP", "i'd like {items} on SHOP", "i need {items} on SHOP",
            "buy {items}", "(get|grab|pick up|fetch) {items}", "(get|grab|pick up|buy|fetch) {items} (at|from) STORE", "i need {items}", "we need {items}", "need {items}", "i need {items} from STORE", "we need {items} from STORE",
            "i need to (buy|get|pick up|grab) {items}", "we need to (buy|get|pick up|grab) {items}",
            "(i have|we have|i've got|we've got|i gotta|we gotta) to (buy|get|pick up) {items}", "i (must|should|want to) (buy|get) {items} at STORE", "we (must|should|ought to) (buy|get|pick up) {items}",
            "we could (use|do with) {items}", "i could use {items}", "let's (buy|get|add) {items}", "i want to buy {items}", "i'd like to buy {items}",
            "(we're|we are|i'm|i am) out of {bare}", "(we're|i'm) (all|almost|nearly|completely|totally|just about) out of {bare}", "out of {bare}", "we (ran|run|have run|just ran) out of {bare}", "we've run out of {bare}",
            "i ran out of {bare}", "i've run out of {bare}", "(we're|i'm|we are) (running|getting) (low|short) on {bare}",
            "(we're|i'm) (low|short) on {bare}", "low on {bare}", "running out of {bare}", "we're running out of {bare}", "we will soon be out of {bare}", "the {mass} is running out", "the {plural} are running out",
            "there's no {mass} left", "there is no more {mass}", "there's no more {mass} in the (fridge|house|kitchen|cupboard)", "there are no {plural} left",
            "no more {bare} (left|in the house|in the fridge)", "we have no {bare} [left|anymore]", "we don't have any {bare} [left|anymore]", "we haven't got any {bare} [left]", "i don't have any {bare} left",
            "there isn't any {mass} left", "there aren't any {plural} left", "there's hardly any {mass} left", "there are hardly any {plural} left", "we have hardly any {bare} left",
            "the {mass} is (gone|empty|finished|all gone|used up|almost empty|running low|nearly gone)", "the {plural} are (gone|finished|all gone|used up|almost gone|running low)", "our {mass} is almost gone",
            "we used up [all] the {bare}", "i (just used|used|just finished|took) the last of the {mass}", "i just finished the {mass}", "i (ate|used|took) the last of the {plural}",
            "(someone|somebody|my husband|my wife|he|she) (finished|used up) [all] the {mass}", "(the kids|someone|they) (ate|finished) all the {plural}", "that was the last of the {bare}", "the last {plural} are gone",
            "we need more {bare}", "i need [some] more {bare}", "(get|buy) [some] more {bare}", "more {bare} [please]", "we need new {plural}", "time to buy {items}", "it's time to buy more {bare}",
            "don't let me forget {items} at STORE", "don't forget {items} (at|from) STORE", 
            
            "make sure (we|i) (get|buy) {items}", "next time i'm at STORE i need {items}",
            "when i go to STORE i need {items}", "while i'm at STORE i need {items}", "while we're at STORE we need {items}", "when i'm at STORE i want to get {items}", "at STORE i need {items}", "from STORE i need {items}",
            "at STORE {items}",
            "(note|write|jot|put|take) down {items}", "(put|write|note) {items} down", "put {items} down for STORE", "note {items} for GROC", "make a note that we need {items}", "new item {items}",
            "new on SHOP {items}", "another thing for SHOP {items}", "one thing for SHOP {items}", "some things for SHOP {items}", "something else for SHOP {items}",
            "we're missing {bare}", "i'm missing {bare}", "{mass} is missing on SHOP", "{plural} are missing on SHOP", "i forgot {items} put (it|them|that) on SHOP", "we forgot {items} add (it|them|that) to SHOP",
            "the fridge is empty we need {items}", "for (dinner|breakfast|lunch|the cake|the party|the soup|tonight|the weekend) we need {items}", "i'm (cooking|baking) and i need {items}", "the recipe needs {items}",
            "(mom|dad|my wife|my husband|the baby|the cat|the dog) needs {items}", "(the kids|they) need {items}", "(the kids|they) want {items} from STORE", "{items} to buy", "to buy {items}", "things to buy {items}",
            "shopping {items}", "groceries {items}", "{mass} is needed", "{plural} are needed", "{items} needed", "(start|make|create|begin) a (shopping|grocery) list with {items}", "we need {items} put (it|them|that) on SHOP",
            "(we need {items} so add (it|them|that) to SHOP|(we're|i'm) out of {bare} , (stick|put|add|write) (it|them|some|that|more) on (SHOP)|i used up the last of the {mass} (can you|,) put some on the list|i used up the {mass} , (stick|put) some on SHOP)", "we're out of {bare} add (it|them|some) to SHOP", "we're out of {bare} put (it|some|more) on SHOP", "i need {items} add (it|them) to SHOP",
            "add {items} to the things (we|i) need to buy", "add {items} to what we need from STORE", "could we get {items}", "can we get {items} (at|from) STORE", "can we buy {items}", "save {items} to SHOP",
            "update SHOP with {items}", "log {items} on SHOP",
            "oh we need {items}", "oh and we need {items}", "yeah we need {items}", "you know what we need {items}", "tell SHOP we need {items}", "SHOP needs {items}", "let me have {items} on SHOP", "i think we need {items}",
            "i think we're out of {bare}", "looks like we're out of {bare}", "looks like we need {items}", "i want some {bare} from STORE", "i should get {items}", "stock up on {bare}", "we should stock up on {bare}",
            "(i|we) used up the last of the {mass} (put|get|stick|pop) some [more] on (the list|the shopping list|my list)", "i used up the {mass} (put|stick) some [more] on SHOP", "(i've|we've) just finished the {mass}",
            "just finished the {mass}", "the {mass} is finished put it on SHOP", "the {mass} is gone add (it|some) to SHOP", "the {plural} are gone add (them|some|more) to SHOP",
            "there's no {mass} left (put|stick|get) (it|some) on (the list|the shopping list)", "there are no {plural} left put (them|some) on SHOP", "no {bare} left (add|put|stick) some (to|on) the list",
            "the {mass} (ran out|has run out|has gone off|went bad|went off|is nearly out|is over|got over)", "the {plural} (ran out|have run out|have gone off|went bad|are over|got over)",
            "{mass} is (finished|over|all gone|nearly gone|running out|almost out|low)", "{plural} are (finished|over|all gone|nearly gone|running out|low)", "(we're|i'm) short of {bare}", "short of {bare}", "running short of {bare}",
            "(nearly|almost|all|completely) out of {bare}", "nearly out of {bare} stick it on the list", "getting low on {bare}", "low on {bare} add (it|some|them) to SHOP", "ran out of {bare}", "i've gone and run out of {bare}",
            "we seem to be out of {bare}", "i noticed we're out of {bare}", "turns out we're out of {bare}", "(i see|oh no|damn|oops|ugh) we're out of {bare}", "not much {mass} left", "not many {plural} left",
            "(only a bit of|hardly any|barely any) {mass} left", "there's only one {mass} left put it on SHOP", "(gotta|must|need to|have to|got to|should) (buy|get|pick up|grab) {items}",
            "(i|we) (gotta|have got to|must|better) (get|buy) {items}", "(we're|i'm) (gonna|going to) need {items}", "(i'll|we'll) need {items} [from STORE]", "(i|we) could do with {items}", "could do with [some] more {bare}",
            "(could use|gonna need|going to need|really need) {items}", "we are in need of {items}", "i wanna buy {items}", "wanna get {items} at STORE", "some {bare} please on SHOP", "a few more {plural} for SHOP", "add item {items}",
            "add the item {items} to SHOP", "add the following to SHOP {items}", "add these to SHOP {items}", "add these things {items}", "add all of these to SHOP {items}", "on the shopping list {items}", "list add {items}",
            "shopping list please {items}", "for the groceries {items}", "put me down for {items} on SHOP", "put {items} down on the list", "get {items} down on SHOP", "get {items} added to SHOP",
            "i'm making (pancakes|lasagna|a curry|a salad|soup|chili|tacos) so (add|put) {items} (to|on) SHOP", "i'm making (pancakes|lasagna|a curry|soup|tacos) so i need {items}",
            "we're having (guests|people over|a barbecue) so we need {items}", "for tonight's dinner i need {items}", "(mum|mom|my mum|nan|grandma|the kids|he|she) (wants|want|needs|need) {items} on SHOP",
            "(mum|mom|my wife|my husband|dad) (says|said) we need {items}", "(mum|mom|my wife|dad) wants you to add {items} to SHOP", "my wife asked for {items} put (it|them|that) on the list", "we forgot {items}",
            "i forgot to put {items} on SHOP", "i forgot to add {items}", "did i say {items} add (it|them) to SHOP", "don't forget {bare} on SHOP", "let's not forget {items} for SHOP", "not to forget {items} put (it|that) on SHOP",
            "make sure there's {bare} on SHOP", "make sure {bare} is on SHOP", "see that {bare} gets on SHOP", "SHOP please add {items}", "hey add {items} to my groceries", "i'd like to add {items} to SHOP",
            "i want to add {items} to SHOP", "i wanna add {items} to my list", "i'd like to put {items} on SHOP", "can we put {items} on SHOP", "can we add {items} to SHOP", "can i add {items} to SHOP",
            "could we have {items} on SHOP", "may i have {items} on SHOP", "can i get {items} added to SHOP", "is it possible to add {items} to SHOP", "when we're next at STORE we need {items}", "next time we shop we need {items}",
            "next shop i need {items}", "from the shop {items}", "for the weekly shop {items}", "put {items} on the weekly shop", "(sling|slap|lob|shove|drop|tack|scribble) {items} (on|onto) SHOP", "{items} for the shop",
            "{items} onto the shopping list",
            "{items} for the groceries", "{items} groceries list", "could you note {items} for shopping", "put {items} with the shopping", "{items} when we go shopping", "{items} next time i'm at STORE",
            "get me {items} from STORE", "get us {items} at STORE", "grab me {items} at STORE", "{mass} we need some", "{plural} we need some", "{bare} we're out", "{bare} we're nearly out", "{bare} we ran out",
            "we need {items} badly", "we need {items} for (tomorrow|dinner|breakfast|school|the party|the weekend)", "i need {items} for (dinner|the cake|my lunch|school)",
            "{items} for (tomorrow|dinner) put (it|them) on the list", "need {items} for dinner",
        ]),
        held=lines([
            "have {items} added to SHOP", "SHOP should have {items} on it", "SHOP is missing {bare}", "make {items} part of SHOP", "there should be {items} on SHOP", "all of the {mass} is gone", "nobody bought {bare}",
            "how about {items} for SHOP", "when we go to STORE we must get {items}", "keep {bare} in mind for STORE",
            "let {items} be on SHOP", "i'd like you to remember {items} for STORE", "the house has no {bare} left", "we will need {items} soon", "what we still need is {items}", "get {items} next time we're at STORE",
        ]),
        slots=SLOTS, call=to_list("add_to_list", "shopping"), result=added, say=say_added),
    Intent(
        "lists.add.task", weight=2.2,
        patterns=lines([
            "add {listed} to TODO", "add {listed} to TODO", "(put|write|get|place|stick|pop|note) {listed} (on|onto) TODO", "add to TODO {listed}", "put on TODO {listed}", "on TODO put {listed}", "to TODO add {listed}",
            "remind me to {tobuy}", "(don't let me forget|don't forget|remember|help me remember|make a note|i need to remember|i mustn't forget|i can't forget|i must remember) to {tobuy}", "add {tobuy} to TODO", "put {tobuy} on TODO",
            "add {tobuy} to DOLIST", "(reminder|set a reminder|add a reminder|put in a reminder) to {tobuy}", "add {listed} to DOLIST", "(put|stick|pop|chuck|bung|get) {listed} on DOLIST", "{listed} (on|to|for) DOLIST",
            "{listed} to do list", "(todo|to-do|my to do list|todo list|to-do list) {listed}", "remind me {tasks}", "remind {tasks}", "(add|new) (todo|to do|to-do) {tasks}", "(put|write) {listed} (in|into|down on) DOLIST",
            "(to do list|todo list|task list) {listed}", "(to do list|todo list|task list|tasks) add {listed}", "{listed} (on|to|onto) TODO", "{listed} goes on TODO",
            "{listed} should be on TODO", "{listed} has to go on TODO", "i want {listed} on TODO", "i'd like {listed} on TODO", "i need {listed} on TODO", "can {listed} go on TODO", "throw {listed} on TODO", "include {listed} in TODO",
            "save {listed} to TODO", "TODO needs {listed}", "update TODO with {listed}", "for TODO {listed}", "log {listed} in TODO",
            "add {tasks} to (my list|the list)", "put {tasks} on (my list|the list|our list)", "write {tasks} on (my list|the list)", "add {tasks}", "add [a|the] task {tasks}", "add a task to {tasks}",
            "(add|create|make|set up) a (new task|task|to do|todo|to do item) {tasks}", "new task {tasks}", "new to do {tasks}", "(create|make|set up) a task to {tasks}", "task {tasks}", "to do {tasks}", "one more task {tasks}",
            "a task for me {tasks}",
            "add (a|another) (to do|todo) to {tasks}", "add to my tasks to {tasks}", "add that i (need|have) to {tasks}", "add that i (need|have) to {tasks} to TODO", "put that i have to {tasks} on ANYTODO",
            "put down that i need to {tasks}", "write down that i (have|need) to {tasks}", "write down {tasks}", "note down {tasks}", "note {tasks}", "jot down {tasks}", "take down {tasks}", "note to self {tasks}",
            "take a note {tasks}", "make a note {tasks}", "make a note to {tasks}", "make a note that i (need|have) to {tasks}", "note that i (need|have) to {tasks}", "a note for me {tasks}", "leave me a note to {tasks}",
            "remind me to {tasks}", "remind me to {tasks}", "remind me i have to {tasks}", "remind me that i (need|have) to {tasks}", "remind me i need to {tasks}", "remind me i should {tasks}", "please remind me to {tasks}",
            "remind us to {tasks}", "(add|set|create|make|put in|give me) a reminder to {tasks}", "(add|set|create) a reminder that i have to {tasks}", "(add|set|create|make) a reminder {tasks}", "reminder to {tasks}",
            "reminder {tasks}", "a reminder to {tasks}", "i need a reminder to {tasks}", "i want a reminder to {tasks}", "i'd like a reminder to {tasks}", "i need to be reminded to {tasks}", "remind me about {topic}",
            "remind me of {topic}",
            "set a reminder about {topic}", "set a reminder for {topic}", "don't let me forget {topic}", "don't let me forget about {topic}", "add {topic} to TODO", "put {topic} on TODO", "don't let me forget to {tasks}",
            "don't let me forget that i have to {tasks}", "don't forget to {tasks}", "don't let us forget to {tasks}", "remember to {tasks}", "remember that i (need|have) to {tasks}", "remember i have to {tasks}",
            "remember that i must {tasks}",
            "help me remember to {tasks}", "help me to remember to {tasks}", "help me not to forget to {tasks}", "i have to remember to {tasks}", "i need to remember to {tasks}", "i must remember to {tasks}",
            "i must not forget to {tasks}", "i mustn't forget to {tasks}", "i can't forget to {tasks}", "i shouldn't forget to {tasks}", "i don't want to forget to {tasks}", "i always forget to {tasks} remind me",
            "i keep forgetting to {tasks}", "i keep forgetting to {tasks} put it on my list",
            "i might forget to {tasks}", "i (have|need) to {tasks} put (it|that) on ANYTODO", "i (have|need) to {tasks} add (it|that) to ANYTODO", "i (have|need) to {tasks} write that down", "i (have|need) to {tasks} remind me",
            "i (must|should|gotta) {tasks} put (it|that) on ANYTODO", "i still (have|need) to {tasks} put it on ANYTODO", "i still have to {tasks} note it down", "i (need|have) to {tasks} so add it to TODO",
            "i (need|have) to {tasks} so remind me", "i have to {tasks} don't let me forget", "i (need|have) to {tasks} make a note", "we (have|need) to {tasks} put (it|that) on ANYTODO", "we should {tasks} add that to ANYTODO",
            "someone has to {tasks} put it on ANYTODO", "i promised to {tasks} put it on ANYTODO", "i promised to {tasks} remind me", "tell me to {tasks} later", "make sure (i|we) {tasks}", "make sure i remember to {tasks}",
            "remind me to {command}", "remind me to {command}", "don't let me forget to {command}", "i have to remember to {command}", "add {command} to TODO", "put {command} on TODO", "make a note to {command}",
            "i need to {command} put that on ANYTODO", "write down that i have to {command}", "make sure i don't forget to {tasks}", "be sure to remind me to {tasks}",
            "keep in mind that i have to {tasks}", "keep in mind to {tasks}", "can you remember that i need to {tasks}", "would you remind me to {tasks}", "i want to {tasks} put it on my list",
            "it's time to {tasks} put that on my list", "tasks {tasks}", "my next task is to {tasks}", "another task is to {tasks}", "my list needs {tasks}", "things to do {tasks}", "put {tasks} down as a task",
            "add {tasks} as a task", "add {tasks} as a to do", "save a reminder to {tasks}",
            "{tasks} remind me", "{tasks} don't let me forget", "{tasks} put (it|that) on my to do list", "{tasks} add that to my tasks", "{tasks} is something i have to do put it on my list", "one thing i have to do is {tasks}",
            "add {doing} to TODO", "remind me about {doing}", "don't let me forget about {doing}",
            "(i've got to|i gotta|gotta|got to|need to|have to|must) {tasks} (put|stick|pop|chuck) (it|that) on (the list|my list|my to do list)", "(need to|gotta|have to) {tasks} add (it|that) to DOLIST",
            "(need to|have to|gotta) {tasks} (remind me|don't let me forget|make a note)", "i've got to {tasks} (remind me|write it down|make a note of it|note that down)", "i've got to remember to {tasks}", "gotta remember to {tasks}",
            "must remember to {tasks}", "need to remember to {tasks}", "mustn't forget to {tasks}", "can't forget to {tasks}", "not to forget {tasks}", "i'll forget to {tasks} if you don't remind me",
            "i'll never remember to {tasks} so write it down", "before i forget i (need|have) to {tasks}", "before i forget put {tasks} on my list", "before i forget to {tasks} put it on my list",
            "i nearly forgot i have to {tasks} put it on DOLIST", "remind me to {tasks} (sometime|at some point|one of these days|when i get a chance|when i have time|some time)", "remind me at some point to {tasks}",
            "remind me i've got to {tasks}", "remind me that i've got to {tasks}", "remind me i gotta {tasks}", "remind me that i should {tasks}", "remind us that we have to {tasks}", "(nudge|prompt|tell|poke|ping) me to {tasks}",
            "set me a reminder to {tasks}", "(pop|put|stick|drop|whack) (a|in a) reminder [in] to {tasks}", "give me a nudge to {tasks}", "(could|can) i (get|have) a reminder to {tasks}", "i could use a reminder to {tasks}",
            "make me a reminder to {tasks}", "i want you to remind me to {tasks}", "you have to remind me to {tasks}", "you must remind me to {tasks}", "remember for me to {tasks}", "please do not let me forget to {tasks}",
            "do not let me forget to {tasks}", "never let me forget to {tasks}", "don't allow me to forget to {tasks}", "(memo|mental note|memo to self|note for me|quick note|note to me|a little reminder|reminder for me) {tasks}",
            "(memo|mental note|quick note|note to myself) to {tasks}", "put a note to {tasks}", "write a note to {tasks}", "write me a note to {tasks}", "remind me for {topic}", "remind me {topic}", "reminder for {topic}",
            "reminder {topic}", "make a note about {topic}", "don't forget {topic}", "{topic} on DOLIST", "{topic} remind me", "add {topic} to DOLIST", "put down {tasks}", "put {tasks} down",
            "put {tasks} on (my|the) list of things to do", "add {tasks} to (my|the) list of things to do", "on my list of things to do put {tasks}", "add another task {tasks}", "another to do {tasks}", "add to do {tasks}",
            "add this to my to do list {tasks}", "add the following task {tasks}", "{tasks} needs to go on DOLIST", "{tasks} has to be on DOLIST", "{tasks} add (it|that) to DOLIST", "{tasks} stick (it|that) on DOLIST",
            "{tasks} that goes on DOLIST", "{tasks} needs doing put it on my list", "also on my plate {tasks} put it on DOLIST",
            "(mum|mom|my wife|my husband|my boss) (wants|asked|told) me to {tasks} (put|stick) it on (my list|the list|my to do list)", "my (mum|wife|boss|husband) keeps telling me to {tasks} put it on DOLIST",
            "i was told to {tasks} remind me", "i said i'd {tasks} remind me", "i'm supposed to {tasks} put it on DOLIST", "i'm supposed to {tasks} remind me", "we've got to {tasks} put it on DOLIST", "we need to {tasks} remind us",
            "someone needs to {tasks} put that on DOLIST", "i never get round to it {tasks} put it on my list",
        ]),
        held=lines([
            "have {listed} added to TODO", "make {listed} part of TODO", "TODO should have {listed} on it", "there should be {listed} on TODO", "see that i don't forget to {tasks}", "let me not forget to {tasks}",
            "keep reminding me to {tasks}", "i'd forget to {tasks} so note it down", "what i still have to do is {tasks} write it down", "my tasks should have {listed}",
            "it would be bad to forget to {tasks} so remind me", "help me so i remember to {tasks}", "put in my tasks that i should {tasks}", "something i must not forget is to {tasks}",
        ]),
        slots=SLOTS, call=to_list("add_to_list", "to-do"), result=added, say=say_added),
    Intent(
        "lists.add.named", weight=1.5,
        patterns=lines([
            "add {things} to NAMED", "add {things} to NAMED", "add {things} to NAMED", "(put|write|get|place|stick|pop|jot|note) {things} (on|onto) NAMED", "add to OWN {things}", "put on OWN {things}", "on NAMED put {things}",
            "add {things} to THELIST", "(put|stick|pop|chuck|bung|whack|throw) {things} on THELIST", "{things} (on|to|for) THELIST", "add {things} (on|in|into) THELIST", "(put|write) {things} (in|into|down on) THELIST",
            "{things} {list} list", "THELIST {things}", "THELIST (add|put) {things}",
            "to NAMED add {things}", "NAMED add {things}", "{list} list {things}", "{list} list add {things}", "{things} to NAMED", "{things} on NAMED", "{things} should go on NAMED", "{things} for the {list} list",
            "{things} should (be|go) on NAMED", "{things} must go on NAMED", "can {things} go on NAMED", "i want {things} on NAMED", "i'd like {things} on NAMED", "i need {things} on NAMED", "we need {things} on NAMED",
            "include {things} in NAMED", "throw {things} on NAMED", "save {things} to NAMED", "NAMED needs {things}", "update NAMED with {things}", "log {things} in NAMED", "for OWN {things}", "new on OWN {things}",
            "(make|start|create|begin|open) (a new {list}|{alist}) list with {things}", "(make|start|create) a [new] list called {list} with {things}", "(make|start|create) a list named {list} and (add|put) {things} [on it]",
            "make me {alist} list with {things} on it", "don't forget {things} on NAMED", "don't let me forget {things} put (it|that) on NAMED", "i forgot {things} add (it|that) to NAMED", "we forgot {things} on NAMED",
            "another thing for OWN {things}",
            "one thing for OWN {things}", "something for OWN {things}", "write down {things} on NAMED", "write {things} down on NAMED", "note down {things} on NAMED", "OWN {things}", "i need {things} put that on NAMED",
            "i want {things} put that on NAMED", "put {things} in NAMED", "add {things} into NAMED", "in NAMED add {things}", "my {list} list is missing {things}", "let's add {things} to NAMED", "let's put {things} on NAMED",
            "remember {things} for NAMED",
            "make a note of {things} on NAMED", "add {things} to NAMED too", "also put {things} on NAMED", "also add {things} to NAMED", "i'd also like {things} on NAMED", "on the {list} list i need {things}",
            "on my {list} list i want {things}", "extend NAMED by {things}", "enter {things} on NAMED", "enter {things} in NAMED",
            "i forgot {things} put (it|them|that) on NAMED", "oh {things} put that on NAMED", "i want to add {things} to NAMED", "i'd like to add {things} to NAMED", "i wanna put {things} on NAMED", "can we add {things} to NAMED",
            "can i add {things} to NAMED", "could you get {things} on NAMED", "don't let me forget {things} for OWN", "NAMED could use {things}", "NAMED also needs {things}",
            "(slap|shove|sling|tack|drop|scribble) {things} (on|onto) NAMED", "get {things} down on NAMED", "get {things} on NAMED", "{things} onto NAMED", "{things} needs to go on NAMED", "{things} goes on NAMED",
            "we'll need {things} put (it|them|that) on NAMED", "i'll need {things} add (it|them) to NAMED", "i'd love {things} put it on NAMED", "add the following to OWN {things}", "add to THELIST {things}", "on THELIST {things}",
            "new for OWN {things}", "for THELIST add {things}", "(start|make|create|begin) {alist} list and (put|add) {things} [on it|to it]", "(make|create) {alist} list {things}", "new {list} list with {things}",
            "i need {alist} list with {things} on it", "give me {alist} list with {things} on it",
        ]),
        held=lines([
            "have {things} added to NAMED", "NAMED should have {things} on it", "make {things} part of NAMED", "there should be {things} on NAMED", "let {things} be on NAMED", "how about {things} for NAMED",
            "get NAMED and add {things}", "with {things} on it start {alist} list",
        ]),
        slots=SLOTS, call=to_list("add_to_list"), result=added, say=say_added),
    Intent(
        "lists.remove", weight=1.6,
        patterns=lines([
            "(remove|delete|take|cross|strike|scratch|erase|drop|clear|check|tick|get) {gone} (off|off of) SHOP", "(remove|delete|take|erase|drop) {gone} from SHOP", "(take|cross|check|tick|strike|scratch|wipe) {gone} off SHOP",
            "(take|remove|delete|cross|scratch) {gone} (off|from) BUYLIST", "{gone} off (the|my) (shopping list|grocery list)", "(scratch|strike|cross|tick|check|drop|wipe|erase) {gone} from SHOP",
            "i got {gone} [already] (cross|tick|take|check) (it|them|that) off", "we don't need {gone} anymore (take|cross) (it|them|that) off [SHOP]", "we don't need {gone} [anymore] take (it|them) off GROC",
            "take {gone} off", "(cross|check|tick|strike|scratch) {gone} off", "cross off {gone}", "check off {gone}", "tick off {gone}", "take off {gone}", "cross out {gone}",
            "(remove|delete|erase) {gone}", "(remove|delete) {gone} from GROC", "get rid of {gone} on SHOP", "off SHOP {gone}", "{gone} off SHOP", "{gone} can (come|go) off SHOP", "{gone} can be removed from SHOP",
            "SHOP remove {gone}", "shopping list remove {gone}", "from SHOP remove {gone}", "from SHOP take {gone}", "{gone} off the list", "no {bare} on SHOP please", "no need for {gone} [anymore|any more]",
            "i got {gone}", "we got {gone}", "i've got {gone} [already|now]", "we've got {gone} [already|now]", "i (already|just) (got|bought) {gone}", "i bought {gone}", "we bought {gone}", "i've bought {gone}", "i picked up {gone}",
            "we (already|just) (got|bought|picked up) {gone}", "(mom|dad|my wife|my husband|he|she|somebody) [already|just] (got|bought|picked up|brought) {gone}", "i have {gone} in the cart", "the {plural} are in the cart",
            "the {mass} is in the cart", "i put {gone} in the cart",
            "we have enough {bare}", "we've got enough {bare}", "there's enough {mass}", "there are enough {plural}", "i have enough {bare}", "we have plenty of {bare}", "we've got plenty of {bare}", "we still have {bare}",
            "we still have enough {bare}", "we still have some {bare} left", "we already have {bare}", "we have {bare} at home", "i already have {bare}", "i found some {bare} in the (cupboard|fridge|kitchen)",
            "there's still some {mass} left",
            "(we|i) don't need {gone} [anymore|any more|any longer|after all]", "(we|i) no longer need {gone}", "(we|i) don't need any {bare}", "(we|i) don't need to buy {gone} [anymore]", "you can (take|cross) {gone} off [SHOP]",
            "you can (delete|remove) {gone}", "you can (delete|remove) {gone} from SHOP", "forget [about] {gone}", "forget {gone} on SHOP", "never mind {gone}", "never mind about {gone}", "skip {gone}", "leave out {gone}",
            "leave {gone} off SHOP",
            "don't buy {gone}", "i don't want {gone} [anymore|any more|on SHOP]", "i changed my mind about {gone}", "i bought {gone} (take|cross) (it|them|that) off", "i got {gone} (take|cross) (it|them|that) off SHOP",
            "we have {bare} remove (it|them) from SHOP", "we don't need {gone} (remove|delete) that", "mark {gone} as (bought|done)", "mark {gone} off", "mark off {gone}", "{gone} (bought|done)", "got {gone}", "bought {gone}",
            "already got {gone}", "already have {bare}",
            "cancel {gone} on SHOP", "take {gone} back off SHOP", "{gone} must come off SHOP", "{gone} should not be on SHOP", "{gone} shouldn't be on SHOP", "the {mass} doesn't belong on SHOP", "the {plural} don't belong on SHOP",
            "i want {gone} off SHOP", "i'd like {gone} off SHOP", "i want you to take {gone} off SHOP", "no more {bare} on SHOP", "there should be no {bare} on SHOP", "wipe {gone} from SHOP", "strike off {gone}",
            "(nix|ditch|scrap|bin|lose|axe|kill|chuck|scrub|ax) {gone} (from|off) SHOP", "(nix|scrap|ditch) {gone} [on SHOP]", "(cross|tick|check|strike) off {gone} (on|from) SHOP", "tick {gone} on SHOP", "tick off {gone} on SHOP",
            "knock {gone} off SHOP", "whip {gone} off SHOP", "(already|just) (got|bought|picked up|grabbed) {gone}", "(already|just) got {gone} (cross|take|tick) (it|them|that) off", "bought {gone} (cross|take|tick) (it|them|that) off",
            "grabbed {gone}", "i grabbed {gone}", "i just grabbed {gone} take (it|them) off the list", "(we've|i've) (already got|got enough|got plenty of|still got|still got some) {bare}",
            "we've already got {bare} (take|cross) (it|them) off SHOP", "there's (plenty of|enough|still) {mass} in the (fridge|cupboard|freezer|pantry) take it off SHOP", "found {bare} in the (cupboard|fridge) so take (it|them) off",
            "turns out we (have|still have|already have) {bare}", "turns out we don't need {gone}", "no need (for|to buy|to get) {gone} take (it|them) off SHOP", "no need to buy {gone} [anymore|any more]",
            "don't need {gone} [anymore|any more]", "don't need {bare} take (it|them) off the list", "{gone} already in the (cart|trolley|basket)", "{gone} (is|are) in the (trolley|basket)",
            "i put {gone} in the (basket|trolley)", "{gone} got it", "{gone} got that", "{gone} check", "{gone} no longer needed", "{gone} not needed [anymore]", "{gone} take (it|that) off",
            "(mum|my mum|my wife|my husband|someone|my flatmate|my roommate) (already|has already) (got|bought|brought) {gone} so take (it|that|them) off", "i went to STORE and got {gone}", "i was at STORE and got {gone}",
            "when i was at STORE i got {gone}", "i don't want {gone} after all", "i'd rather not have {gone} on SHOP", "why is {one} on SHOP take it off", "i didn't mean to add {gone} to SHOP", "i didn't want {gone} on SHOP",
            "{gone} was a mistake take (it|that) off SHOP", "SHOP doesn't need {gone}", "SHOP minus {gone}", "SHOP without {gone}", "can you unadd {gone} from SHOP",
            "list remove {gone}", "list delete {gone}", "get {gone} off SHOP", "(pull|yank|pluck) {gone} off SHOP", "{gone} out of SHOP", "cut {gone} from SHOP", "please no {bare} on SHOP",
        ]),
        held=lines([
            "have {gone} removed from SHOP", "let {gone} go from SHOP", "the {mass} is no longer needed", "we won't need {gone} anymore", "SHOP can do without {bare}", "somebody has already bought {gone}", "enough {bare} at home",
            "i see we still have {bare}", "i want {gone} gone from SHOP", "make sure {bare} is not on SHOP", "please let SHOP be without {bare}",
        ]),
        slots=SLOTS, call=to_list("remove_from_list", "shopping"), result=removed, say=say_removed),
    Intent(
        "lists.remove.task", weight=1.1,
        patterns=lines([
            "(remove|delete|take|cross|strike|scratch|erase|drop|clear|check|tick) {onetask} (off|off of) TODO", "(remove|delete|erase|drop) {onetask} from TODO", "(take|cross|check|tick|strike|scratch) {onetask} off ANYTODO",
            "(take|remove|delete|cross|scratch|tick|check) {onetask} (off|from) DOLIST", "(tick|check|cross|strike) off {onetask} (on|from) DOLIST", "{onetask} off (my|the) (to do list|todo list)",
            "(scratch|strike|wipe|erase|drop) {onetask} from DOLIST", "{topic} is done", "{topic} done", "i did {topic}", "done with {topic}",
            "(cross|check|tick) off {onetask}", "mark {onetask} as (done|finished|complete|completed)", "mark {onetask} done", "mark {onetask} off TODO", "mark {onetask} as done on TODO", "check {onetask} off", "cross {onetask} off",
            "tick {onetask} off",
            "{onetask} is done", "{onetask} is finished", "{onetask} done", "the task {onetask} is done", "the task to {dotask} is done", "task done {onetask}", "{onetask} off TODO", "{onetask} can come off TODO",
            "TODO remove {onetask}", "from TODO remove {onetask}", "delete the task {onetask}", "remove the task {onetask}", "(delete|remove|cancel) the task to {dotask}",
            "i {past} cross it off", "i {past} (cross|take|check|tick) (it|that) off [ANYTODO]", "i've {done} (cross|take|check|tick) (it|that) off [ANYTODO]", "i already {past} take it off ANYTODO", "i already {past}",
            "i've already {done}", "i just {past} cross that off", "i've just {done} take it off the list", "i have {done} so cross it off", "i {past} so you can take it off", "we {past} cross it off",
            "we've {done} cross it off ANYTODO", "i {past} remove it from TODO", "i {past} delete the task",
            "i {past} you can delete it from TODO", "i'm done {doing}", "i'm finished {doing}", "i finished {doing}", "i've finished {doing}", "done {doing}", "finished {doing}", "i'm done {doing} cross it off", "cross off {doing}",
            "i managed to {dotask} cross it off", "i don't (have|need) to {dotask} [anymore|any more|any longer]", "we don't (have|need) to {dotask} [anymore|any more]", "i no longer (have|need) to {dotask}",
            "no need to {dotask} [anymore|any more]",
            "get rid of {onetask} on TODO", "i took care of it {onetask} is done", "my husband {past} so cross it off", "my wife {past} so take it off ANYTODO", "{doing} is done", "{onetask} take it off ANYTODO", "{onetask} cross it off",
            "(nix|ditch|scrap|bin|lose|axe|scrub) {onetask} (from|off|on) DOLIST", "tick {onetask} on DOLIST", "mark {onetask} as done on my list", "mark {onetask} complete", "mark {topic} as done", "set {onetask} to done",
            "complete {onetask} on DOLIST", "{onetask} completed", "{onetask} sorted", "{onetask} is sorted", "{onetask} is taken care of", "{onetask} has been done", "{topic} (is finished|has been done|is sorted|is taken care of)",
            "that's {topic} done", "finished {topic}", "finished with {topic}", "i'm done with {topic}", "i've done {topic}", "i finished {topic}", "i just finished {topic} cross it off", "i did {topic} (take|cross|tick) it off",
            "already {done}", "{past} already", "i actually {past} already", "i {past} already", "i {past} yesterday so take it off", "i {past} this morning", "i {past} so tick it off", "i've {done} tick it off DOLIST",
            "we {past} already", "we've already {done}", "i finally {past}", "i have finally {done}", "don't need to {dotask} (anymore|any more|after all)", "no need to {dotask} take it off", "no longer need to {dotask}",
            "i don't have to {dotask} after all", "(i won't {dotask} after all take it off|i {past} [,] (remove|take) it from (TODO)|i have already {done}|i've already (finished {doing}|{done}) today|already {done} so (cross|tick) it off|(she|he|the kids|my brother) {past} so (cross|tick) it off)", "i'm not going to {dotask} anymore delete it", "forget about {doing}", "never mind {doing}",
            
            "(my wife|my husband|mum|dad|he|she|my brother|my sister) already {past}", "somebody already {past} so take it off",
            "my (wife|husband|sister) has already {done}", "get {onetask} off DOLIST", "knock {onetask} off DOLIST", "list remove {onetask}", "to do list remove {onetask}", "task {onetask} done",
        ]),
        held=lines([
            "have {onetask} removed from TODO", "i have managed to {dotask} so mark it as done", "let {onetask} go from TODO", "{onetask} is no longer something i have to do", "see {onetask} as done",
            "i was able to {dotask} check it off", "i want {onetask} gone from TODO", "i'm through with {doing} so take it off",
        ]),
        slots=SLOTS, call=to_list("remove_from_list", "to-do"), result=removed, say=say_removed),
    Intent(
        "lists.remove.named", weight=0.7,
        patterns=lines([
            "(remove|delete|take|cross|strike|scratch|erase|drop|check|tick) {onething} (off|off of) NAMED", "(remove|delete) {onething} from NAMED", "(remove|delete|take) the {onething} from NAMED",
            "(take|remove|delete|cross|scratch|strike|wipe|tick) {onething} (off|from) THELIST", "(take|remove|delete|scratch|strike) the {onething} (off|from) THELIST", "{onething} off THELIST",
            "(take|cross|check|tick) {onething} off NAMED", "take the {onething} off NAMED", "cross off {onething} on NAMED", "{onething} off NAMED", "{onething} can come off NAMED", "NAMED remove {onething}",
            "{list} list remove {onething}", "from NAMED remove {onething}",
            "get rid of {onething} on NAMED", "i don't need {onething} on NAMED", "i don't want {onething} on NAMED [anymore]", "i packed the {onething} take it off NAMED", "i got {onething} cross it off NAMED",
            "i've got {onething} take it off NAMED", "i have {onething} remove it from NAMED", "i bought {onething} cross it off NAMED", "mark {onething} as done on NAMED", "{onething} shouldn't be on NAMED", "no {onething} on NAMED",
            "you can take {onething} off NAMED",
            "off OWN {onething}", "forget {onething} on NAMED", "wipe {onething} off NAMED", "i want {onething} off NAMED", "we don't need {onething} on NAMED", "{onething} must come off NAMED", "leave {onething} off NAMED",
            "(nix|ditch|scrap|bin|lose|axe|scrub|chuck) {onething} (from|off) NAMED", "(tick|check|cross) off {onething} on THELIST", "we've got {onething} cross it off NAMED", "already packed the {onething} take it off NAMED",
            "i've packed the {onething} tick it off NAMED", "i already have {onething} take it off NAMED", "{onething} is (packed|done|sorted) take it off NAMED", "{onething} no longer on NAMED", "THELIST remove {onething}",
            "THELIST delete {onething}", "cut {onething} from NAMED", "get {onething} off NAMED", "knock {onething} off NAMED", "no need for {onething} on NAMED", "i changed my mind about {onething} on NAMED",
            "NAMED without {onething}", "i didn't mean to put {onething} on NAMED", "{onething} doesn't belong on NAMED", "why is {onething} on NAMED take it off", "strike off {onething} from NAMED", "tick {onething} on NAMED",
            "mark {onething} off NAMED",
        ]),
        held=lines(["have {onething} removed from NAMED", "let {onething} go from NAMED", "i want {onething} gone from NAMED", "make sure {onething} is not on NAMED"]),
        slots=SLOTS, call=to_list("remove_from_list"), result=removed, say=say_removed),
    Intent(
        "lists.read", weight=1.7,
        patterns=lines([
            "what's on SHOP", "what is on SHOP", "what's on SHOP [right now|at the moment|so far]", "what do (i|we) have on SHOP", "what have (i|we) got on SHOP", "what does SHOP say", "what did (i|we) put on SHOP", "what's in SHOP",
            "what's on BUYLIST", "(read|show|check|open|tell me) BUYLIST", "what do (i|we) need from the (shops|shop|store)", "(shopping|grocery) list (now|please|again)", "is {one} on BUYLIST", "are {plural} on BUYLIST",
            "anything on BUYLIST", "what is in BUYLIST", "what have (i|we) got to (buy|get)", "what do i need to buy", "what's still on BUYLIST", "read me BUYLIST", "show me BUYLIST",
            "(read|show|tell|give) me SHOP", "(read|show|check|list|open|pull up|bring up|display) SHOP", "read (out|back) SHOP", "read SHOP (out|aloud|to me|back to me|out loud)", "read me what's on SHOP", "tell me what's on SHOP",
            "let me hear SHOP", "let me see SHOP", "i want to (hear|see) SHOP", "i need SHOP", "i'd like to hear SHOP", "go over SHOP [with me]", "go through SHOP [with me]", "list everything on SHOP", "list the items on SHOP",
            "name the things on SHOP", "say SHOP", "shopping list", "grocery list", "shopping list please", "the shopping list please", "(shopping|grocery) list read", "read groceries", "my groceries please", "groceries list please",
            "what do (i|we) need [to buy|to get|to pick up]", "what do (i|we) need (from|at) STORE", "what do (i|we) have to (buy|get|pick up)", "what should i (buy|get|pick up) [at STORE]", "what should i get from STORE",
            "what am i supposed to (buy|get|pick up)", "what are we out of", "what did we run out of", "what are we missing", "what groceries do (we|i) need", "what groceries are on the list", "what shopping do we need",
            "which things do we need from STORE", "what items are on SHOP", "which items are on SHOP",
            "what things are on SHOP", "what's left on SHOP", "what is still on SHOP", "what's missing from the kitchen", "do (i|we) need to (buy|get) anything", "do (i|we) need anything (from|at) STORE", "do we need anything",
            "do we need any groceries", "is there anything (to buy|i need to buy|we need)", "is there anything on SHOP", "is there something on SHOP", "anything on SHOP", "anything to buy", "anything we need from STORE",
            "are we out of anything",
            "is SHOP empty", "is there a shopping list", "how many (things|items) are on SHOP", "how long is SHOP", "how much is on SHOP", "is {one} on SHOP", "is {one} already on SHOP", "are {plural} on SHOP",
            "are {plural} already on SHOP", "is there [any] {one} on SHOP", "do we have {one} on SHOP", "do i have {one} on SHOP", "did (i|we) (put|write) {one} on SHOP", "did (i|we) add {one} [to SHOP]", "did you add {one} [to SHOP]",
            "did you put {one} on SHOP", "have i put {one} on SHOP",
            "have (i|we) added {one} to SHOP", "do (we|i) need {one}", "do (we|i) need [any] {one} from STORE", "do (we|i) need to (buy|get) {one}", "do we still need {one}", "do i have to (buy|get) {one}", "are we out of {one}",
            "is {one} missing on SHOP", "check if {one} is on SHOP", "check whether {one} is on SHOP", "look if {one} is on SHOP", "tell me if {one} is on SHOP", "check SHOP for {one}", "i'm at STORE what do i need",
            "i'm at STORE what's on the list", "i'm going to STORE what do we need",
            "i'm going to STORE do we need anything", "i'm going shopping what do we need", "i'm about to go shopping read me the list", "i'm in STORE read me the list", "i forgot what i need to buy", "i forgot what's on SHOP",
            "i can't remember what's on SHOP", "remind me what's on SHOP", "remind me what i need to buy", "remind me what we need from STORE", "what was on SHOP again", "what was i going to buy", "what else do we need [from STORE]",
            "what else is on SHOP", "SHOP contents", "contents of SHOP", "items on SHOP", "status of SHOP",
            "what's left to buy", "anything left to buy", "what do i gotta (buy|get)", "what've (i|we) got to get", "what am i (getting|buying) [at STORE]", "what are we (getting|buying) [at STORE]", "what all is on SHOP",
            "what all do (i|we) need [to buy]", "what all do we need from STORE", "(run|talk|walk|take) me through SHOP", "run SHOP by me", "(rattle off|recite|repeat|reel off) SHOP", "give me the rundown of SHOP", "hit me with SHOP",
            "fill me in on SHOP", "remind me of SHOP", "what's the shopping list", "what is my shopping list", "what's SHOP looking like", "how's SHOP looking", "whats my list say", "can i see SHOP", "can i hear SHOP",
            "may i hear SHOP", "could i get SHOP", "have we got anything on SHOP", "have we got {one} on SHOP", "have i got {one} on SHOP", "did (we|i) already add {one}", "did i put {one} on", "did i remember to add {one}",
            "did (mum|mom|anyone|someone|my wife) add {one} [to SHOP]", "have i already added {one}", "did i already put {one} on SHOP", "is {one} on there", "is {one} down on SHOP", "see whether {one} is on SHOP", "was {one} on SHOP",
            "do we need more {bare}", "should i (buy|get) {bare}", "should we get {bare}", "are {plural} on there", "is there {one} on SHOP", "i'm at STORE read me SHOP", "i'm at STORE what was i meant to get",
            "what was i meant to (buy|get)", "what did (mum|mom|my wife|my husband|she|he) want from STORE", "what did we say we need [from STORE]", "what did we need again", "what was it i needed from STORE",
            "what groceries have we got on the list", "off to STORE what do we need", "heading to STORE what's on the list", "just got to STORE what's on the list", "going shopping what do i need", "how many things do we need to buy",
            "how many things do i have to buy", "what have i added to SHOP", "what did i add to SHOP", "what did i tell you to put on SHOP", "shopping list contents", "full shopping list",
            "whole shopping list please", "everything on SHOP please", "say what's on SHOP", "what exactly is on SHOP", "groceries what do we need", "shopping what do we need", "list what's on it => list=shopping",
        ]),
        held=lines([
            "what have i put down to buy", "give me the things on SHOP one by one", "how does SHOP look", "what would you say is on SHOP", "which groceries are missing", "i need to know what's on SHOP",
            "can i hear what we need to buy", "SHOP what does it say", "see if {one} is on SHOP", "have we got {one} on SHOP already", "is it {one} that we need", "tell me everything we need to buy",
        ]),
        slots=SLOTS, call=to_list("read_list", "shopping"), result=read, say=say_read),
    Intent(
        "lists.read.task", weight=1.2,
        patterns=lines([
            "what's on TODO", "what is on TODO", "what's on TODO (right now|today|at the moment)", "what do i have on TODO", "what have i got on TODO", "what does TODO say", "what did i put on TODO", "what's in TODO",
            "what's on DOLIST", "(read|show|check|open|tell me|read me|show me) DOLIST", "what's left on (my to-dos|my to dos|my to do list|my todo list|the to do list) [today]", "what's left on TODO", "DOLIST (now|please|again)",
            "anything on DOLIST", "what have i got to do [today]", "what's left to do today",
            "(read|show|tell|give) me TODO", "(read|show|check|list|open|pull up|bring up|display) TODO", "read (out|back) TODO", "read TODO (out|aloud|to me|back to me|out loud)", "tell me what's on TODO", "let me hear TODO",
            "let me see TODO", "i want to hear TODO",
            "go over TODO [with me]", "go through TODO [with me]", "list everything on TODO", "list my tasks", "what are my tasks", "what are my to dos", "to do list", "to do list please", "todo list", "tasks please", "my tasks",
            "my to dos", "task list",
            "what do i (have|need) to do", "what do i have to do today", "what do i still have to do", "what do we (have|need) to do", "what should i do today", "what am i supposed to do", "what tasks do i have", "what tasks are left",
            "which tasks are left", "what's left to do", "what is there to do", "what is still to do", "what's my next task", "what jobs do i have to do", "what do i need to get done", "what must i do today", "what did i want to do",
            "what did i have to do again", "what was i supposed to do", "what was i going to do",
            "do i have (anything|something) to do", "do i have any tasks [left]", "do i have to do anything [today]", "do i need to do anything [today]", "is there anything (left to do|i have to do|on TODO)",
            "is there something i have to do", "anything to do", "anything on TODO", "any tasks", "any tasks left", "any to dos", "am i done with my tasks", "is TODO empty", "how many tasks do i have", "how many things are on TODO",
            "how many tasks are left", "how long is TODO", "how much is left on TODO",
            "is {onetask} on TODO", "is {onetask} already on TODO", "do i have {onetask} on TODO", "did i put {onetask} on TODO", "did i add {onetask} to TODO", "do i [still] have to {onetask}", "do i still need to {onetask}",
            "was i supposed to {onetask}", "did i want to {onetask}", "did i have to {onetask}", "check if {onetask} is on TODO", "what have i not done yet", "what haven't i done yet",
            "i forgot what i have to do", "i can't remember what i have to do", "remind me what i have to do", "remind me what's on TODO", "remind me of my tasks", "what else do i have to do", "what else is on TODO",
            "what did i forget to do", "am i forgetting (something|anything)", "did i forget (something|anything)", "status of my tasks", "tell me my tasks", "tell me what i have to do", "tell me what i need to do today",
            "what do i gotta do [today]", "what've i got to do", "what all do i have to do [today]", "what all is on TODO", "what's next on DOLIST", "what comes next on TODO", "what's the next thing on TODO",
            "what's still open on TODO", "what's outstanding on TODO", "what's pending on TODO", "any pending tasks", "what are my pending tasks", "(run|talk|walk|take) me through TODO", "run TODO by me",
            "(rattle off|recite|repeat|reel off) TODO", "give me the rundown of TODO", "hit me with TODO", "remind me of TODO", "what's TODO looking like", "how's TODO looking", "how am i doing on TODO", "can i see TODO",
            "can i hear TODO", "could i get TODO", "have i got anything to do", "have i got anything on TODO", "have i got any tasks [left]", "got any tasks for me", "what jobs have i got [to do]",
            "what chores (have i got|do i have|are left)", "any chores left", "any jobs left", "what was i meant to do", "what was it i had to do", "what was i supposed to do today", "what did i ask you to remind me of",
            "what did i want to be reminded of", "what am i meant to remember", "what did i put down to do", "have i put {onetask} on TODO", "did i write down to {onetask}", "have i already added {onetask}", "was {onetask} on TODO",
            "have i got to {onetask}", "do i need to {onetask}", "did i ask you to remind me to {onetask}", "did i remember to add {onetask} to TODO", "what haven't i finished [yet]", "what do i still need to do",
            "what else have i got to do", "how many to dos do i have", "how many jobs are left", "how much have i got to do", "what tasks do i have today", "what are today's tasks", "today's tasks", "say what's on TODO",
            "everything on TODO please", "the whole to do list", "tasks list", "list of tasks", "list my to dos", "list out my tasks", "tell me what's left on TODO", "what did i promise to do", "is my to do list long",
            "is there much on TODO", "what do i need to do",
        ]),
        held=lines([
            "how does TODO look", "what have i put down to do", "give me my tasks one by one", "i need to know what's on TODO", "which jobs are still left for me", "can i hear what i have to do", "what would you say is on TODO",
            "tell me everything i have to do", "see if {onetask} is on TODO", "is there work left for me on TODO",
        ]),
        slots={**SLOTS, "onetask": lambda g: (lambda w: (w, [w]))(one_task(g))}, call=to_list("read_list", "to-do"), result=read, say=say_read),
    Intent(
        "lists.read.named", weight=1.0,
        patterns=lines([
            "what's on NAMED", "what is on NAMED", "what's on NAMED (right now|so far|at the moment)", "what do i have on NAMED", "what do we have on NAMED", "what have (i|we) got on NAMED", "what does NAMED say",
            "what's on THELIST", "(read|show|check|open|tell me|read me|show me) THELIST", "what is in THELIST", "THELIST (now|please|again)", "anything on THELIST", "what's left on THELIST", "is {onething} on THELIST",
            "what did (i|we) put on NAMED", "what's in NAMED", "(read|show|tell|give) me NAMED", "(read|show|check|list|open|pull up|bring up|display) NAMED", "read (out|back) NAMED", "read NAMED (out|aloud|to me|back to me|out loud)",
            "tell me what's on NAMED",
            "let me hear NAMED", "let me see NAMED", "i want to (hear|see) NAMED", "go over NAMED [with me]", "go through NAMED [with me]", "list everything on NAMED", "list the items on NAMED", "{list} list please", "{list} list",
            "the {list} list please", "my {list} list", "is there anything on NAMED", "anything on NAMED", "is NAMED empty", "how many things are on NAMED", "how long is NAMED", "what's left on NAMED", "what is still on NAMED",
            "which things are on NAMED", "who is on the guest list => list=guest", "who's on my guest list => list=guest",
            "is {onething} on NAMED", "are {plural} on NAMED", "is the {onething} on NAMED", "did i put {onething} on NAMED", "did i add {onething} to NAMED", "do i have {onething} on NAMED", "check if {onething} is on NAMED",
            "check NAMED for {onething}", "what else is on NAMED", "what items are on NAMED", "remind me what's on NAMED", "i forgot what's on NAMED", "what was on NAMED again", "do we have {alist} list", "do i have {alist} list",
            "is there {alist} list", "contents of NAMED", "items on NAMED",
            "(run|talk|walk|take) me through NAMED", "(rattle off|recite|repeat|reel off) NAMED", "run NAMED by me", "what's NAMED looking like", "how's NAMED looking", "what's NAMED", "can i see NAMED", "can i hear NAMED",
            "could i get NAMED", "what all is on NAMED", "remind me of NAMED", "give me the rundown of NAMED", "have i got {onething} on NAMED", "have we got {onething} on NAMED", "did i already put {onething} on NAMED",
            "was {onething} on NAMED", "is {onething} down on NAMED", "see whether {onething} is on NAMED", "did i remember to put {onething} on NAMED", "say what's on NAMED", "what did i add to NAMED", "have i got anything on NAMED",
            "everything on NAMED please", "the whole {list} list", "what's missing from NAMED", "what do i still need from NAMED", "what's next on NAMED",
        ]),
        held=lines(["how does NAMED look", "what have i put down on NAMED", "i need to know what's on NAMED", "give me the things on NAMED one by one", "see if {onething} is on NAMED", "NAMED what does it say"]),
        slots=SLOTS, call=to_list("read_list"), result=read, say=say_read),
    Intent(
        "lists.clear", weight=0.8,
        patterns=lines([
            "(clear|empty|delete|erase|wipe|reset|clean|purge|clear out|clear off|empty out|wipe out|clean out|throw away|get rid of|scrap|trash|toss) SHOP", "(delete|remove|clear|erase|wipe) everything (on|from|off) SHOP",
            "(clear|empty|delete|wipe|erase|reset|scrap|bin) BUYLIST", "(clear|delete|wipe|remove) everything (on|from|off) BUYLIST", "wipe BUYLIST clean", "(finished|done) shopping (clear|delete|wipe) the list",
            "empty SHOP i got everything", "clear SHOP i bought everything",
            "(delete|remove|clear|take) all [the] (items|things|groceries) (on|from|off) SHOP", "remove (all|all of it|everything|all items) from SHOP", "take everything off SHOP", "cross everything off SHOP",
            "cross off everything on SHOP", "check everything off SHOP",
            "(start|make|begin|create) a new (shopping|grocery) list", "start SHOP (over|fresh|again|from scratch)", "start over with SHOP", "start fresh with SHOP", "let's start a new (shopping|grocery) list",
            "i need a new (shopping|grocery) list", "i want (a new|an empty|a fresh) (shopping|grocery) list", "new shopping list", "new grocery list", "a fresh shopping list please", "make SHOP empty", "wipe SHOP clean",
            "empty (shopping|grocery) list", "clear (shopping|grocery) list", "delete the whole (shopping|grocery) list",
            "delete all of SHOP", "clear all of SHOP", "i (bought|got) everything [on SHOP]", "we (bought|got) everything [on SHOP]", "i've (bought|got) everything on SHOP", "i got all the groceries",
            "i bought all the groceries clear the list", "i'm done shopping", "i'm done with the shopping", "i did the shopping clear the list", "shopping is done", "the shopping is done", "all groceries are bought",
            "i have everything on SHOP", "everything on SHOP is bought", "we don't need anything on SHOP anymore", "i don't need SHOP anymore", "forget SHOP", "forget everything on SHOP", "SHOP can be deleted", "SHOP can go",
            "SHOP should be empty", "nothing should be on SHOP",
            "(bin|ditch|kill|nuke|dump|chuck|axe|nix|chuck out|chuck away|flush|blank) SHOP", "(finished|done) (shopping|with the shopping|the shopping)", "we've (done|finished) the shopping", "i've (done|finished) the shopping",
            "we've done the shopping clear SHOP", "shopping's done", "shopping's done clear the list", "i'm back from STORE (clear|wipe|empty) the list", "i got it all clear SHOP", "i got everything so (wipe|clear|empty) SHOP",
            "got everything clear SHOP", "got everything on SHOP", "bought everything on SHOP", "got all the shopping", "we have everything we need clear SHOP", "start SHOP afresh", "start a fresh shopping list", "fresh shopping list",
            "begin a new shopping list", "clean slate for SHOP", "clean SHOP up", "tidy up SHOP delete everything", "take it all off SHOP please", "get rid of everything on SHOP", "get rid of all the groceries on SHOP",
            "tick everything off SHOP", "tick off everything on SHOP", "strike everything off SHOP", "make SHOP blank", "i want SHOP empty", "i want a clean shopping list", "SHOP is done", "SHOP is all done",
            "SHOP is finished clear it", "drop everything from SHOP", "erase the entire shopping list", "clear the entire grocery list", "clear out all the groceries", "we don't need any of the things on SHOP",
            "nothing on SHOP is needed anymore", "delete everything i put on SHOP",
        ]),
        held=lines(["let's have SHOP empty", "have SHOP cleared", "i want SHOP gone", "take it all off SHOP", "i want nothing on SHOP", "make it a new (shopping|grocery) list"]),
        slots=SLOTS, call=to_list("clear_list", "shopping"), result=cleared, say=say_cleared),
    Intent(
        "lists.clear.task", weight=0.6,
        patterns=lines([
            "(clear|empty|delete|erase|wipe|reset|clean|clear out|empty out|clean out|get rid of|scrap) TODO", "(delete|remove|clear|erase|wipe) everything (on|from|off) TODO", "(delete|remove|clear|cancel) all [my|the] tasks",
            "(clear|empty|delete|wipe|erase|reset|scrap|bin) DOLIST", "(clear|delete|wipe|remove) everything (on|from|off) DOLIST", "(empty|clear|wipe) TODO i (finished|did) everything",
            "i (finished|did) everything (clear|empty|wipe) TODO", "clear my to do list",
            "(delete|remove|clear) all [of] my to dos", "remove all tasks from TODO", "take everything off TODO", "cross everything off TODO", "cross off everything on TODO", "check everything off TODO",
            "(start|make|begin|create) a new (to do|todo|task) list", "start TODO (over|fresh|again|from scratch)",
            "start fresh with TODO", "i need a new (to do|todo|task) list", "new to do list", "new task list", "make TODO empty", "wipe TODO clean", "empty to do list", "clear task list", "delete the whole (to do|task) list",
            "delete all of TODO", "i (did|finished) everything on TODO", "i've done everything on TODO", "i'm done with all my tasks", "i finished all my tasks", "i did all my tasks", "all my tasks are done", "all tasks are done",
            "all tasks done", "everything on TODO is done", "mark all [my] tasks as done", "mark everything on TODO as done",
            "forget everything on TODO", "forget all my tasks", "i don't need TODO anymore", "TODO can go", "TODO should be empty", "delete every task", "get rid of all my tasks",
            "(bin|ditch|kill|nuke|dump|chuck|axe|nix|blank) TODO", "i've (done|finished) all my (tasks|jobs|chores)", "i've finished everything on TODO", "i'm done with everything on TODO", "all my (jobs|chores|to dos) are done",
            "all done on TODO", "i got everything done on TODO", "got everything done clear TODO", "i did it all clear TODO", "tick everything off TODO", "tick off everything on TODO", "tick all my tasks off", "check off all my tasks",
            "cross off all my tasks", "complete all tasks", "mark all to dos as done", "all tasks completed", "start a fresh to do list", "clean slate for TODO", "i want TODO empty", "make TODO blank", "erase all my tasks",
            "scrap all my tasks", "wipe all my to dos", "get rid of everything on TODO", "drop everything from TODO", "erase the entire to do list", "TODO is all done", "nothing on TODO is needed anymore",
            "take everything off my tasks",
        ]),
        held=lines(["have TODO cleared", "i want TODO gone", "take it all off TODO", "i want nothing on TODO", "every task of mine is done"]),
        slots=SLOTS, call=to_list("clear_list", "to-do"), result=cleared, say=say_cleared),
    Intent(
        "lists.clear.named", weight=0.6,
        patterns=lines([
            "(clear|empty|delete|erase|wipe|reset|clean|clear out|empty out|clean out|get rid of|scrap|throw away) NAMED", "(delete|remove|clear|erase|wipe) everything (on|from|off) NAMED",
            "(clear|empty|delete|wipe|erase|reset|scrap|bin) THELIST", "(clear|delete|wipe|remove) everything (on|from|off) THELIST", "wipe THELIST clean",
            "(delete|remove|clear) all the (items|things) (on|from|off) NAMED", "remove everything from NAMED", "take everything off NAMED", "cross everything off NAMED", "cross off everything on NAMED", "check everything off NAMED",
            "(start|make|begin|create) a new {list} list", "start NAMED (over|fresh|again|from scratch)",
            "start fresh with NAMED", "i need a new {list} list", "i want an empty {list} list", "new {list} list", "make NAMED empty", "wipe NAMED clean", "clear {list} list", "empty {list} list", "delete the whole {list} list",
            "delete all of NAMED", "i have everything on NAMED", "i'm done with NAMED", "we're done with NAMED", "everything on NAMED is done", "forget NAMED", "forget everything on NAMED", "i don't need NAMED anymore", "NAMED can go",
            "NAMED can be deleted", "NAMED should be empty",
            "(bin|ditch|kill|nuke|dump|chuck|axe|nix|blank) NAMED", "tick everything off NAMED", "tick off everything on NAMED", "i've got everything on NAMED clear it", "everything on NAMED is (packed|done) clear it",
            "i did everything on NAMED", "clean slate for NAMED", "start a fresh {list} list", "i want NAMED empty", "make NAMED blank", "get rid of everything on NAMED", "drop everything from NAMED", "erase the entire {list} list",
            "NAMED is all done", "NAMED is finished clear it", "we don't need NAMED any longer", "take it all off NAMED please", "delete everything i put on NAMED", "cross all the things off NAMED",
        ]),
        held=lines(["have NAMED cleared", "i want NAMED gone", "take it all off NAMED", "i want nothing on NAMED"]),
        slots=SLOTS, call=to_list("clear_list"), result=cleared, say=say_cleared),
    # follow-ups
    Intent(
        "lists.more", weight=1.6, follows=("lists.add", "lists.more", "lists.read", "lists.clear"),
        patterns=[
            "also {items} please", "and {items} please", "{items} please",
            "and {items}", "also {items}", "and also {items}", "{items} too", "{items} as well", "and {items} too", "and {items} as well", "add {items}", "add {items} too", "add {items} as well", "also add {items}",
                  "and add {items}", "oh and {items}", "oh and add {items}", "plus {items}", "then {items}", "and then {items}", "add {items} to it", "add {items} to the list", "put {items} on it", "put {items} on it too",
                  "put {items} on there", "put {items} on there too", "also put {items} on it", "add {items} to that", "add {items} to that list", "add one more thing {items}", "one more thing {items}", "another thing {items}",
                  "and one more item {items}", "and we need {items}", "we also need {items}", "i also need {items}", "and i need {items}", "we need {items} too", "we need {items} as well",
                  "oh we need {items} too", "and we're out of {bare}", "we're also out of {bare}", "and more {bare}", "and some more {bare}", "and get {items}", "and buy {items}", "also get {items}", "now add {items}",
                  "okay add {items}", "then add {items}", "don't forget {items}", "and don't forget {items}", "and don't forget to buy {items}", "make that {items} too", "i forgot {items}",
                  "oh i forgot {items}", "wait also {items}", "oh yes and {items}", "yes and {items}",
                  "{items} also", "can you add {items} too", "and maybe {items}", "maybe also {items}", "actually add {items} too", "let's add {items} too", "we could use {items} too", "next item {items}", "another item {items}",
            "(stick|chuck|throw|pop|bung|toss|whack) {items} on [there|it] [too|as well]", "(throw|chuck|toss) in {items} [too]", "and put {items} on", "put {items} on as well", "put {items} on too", "and (stick|chuck|pop) {items} on",
            "and a few {plural}", "and some {bare}", "some {bare} too", "maybe some {bare} as well", "no i meant {items}", "i meant {items}", "sorry i meant {items}", "oh wait {items} as well", "hang on {items} too",
            "hold on {items} as well", "oh yeah {items}", "ooh and {items}", "and we could do with {items}", "and i want {items}", "i want {items} too", "we'll need {items} too", "gonna need {items} too", "yeah and {items}",
            "and finally {items}", "last one {items}", "last thing {items}", "and lastly {items}", "while you're at it {items}", "and don't forget the {bare}", "how about {items} too", "and maybe {items} too",
            "actually {items} too", "better add {items} as well", "could you add {items} to that", "same list {items}", "and {items} on there", "on the same list {items}", "to the same list add {items}", "{items} on the same list",
            "(mum|mom|my wife|dad) also wants {items}", "then we need {items}", "and out of {bare} too", "no {bare} left either", "we don't have any {bare} either", "and there's no {mass} left", "let me think {items}",
        ],
        held=["{items} should go on there too", "and on top of that {items}", "i'd like {items} with that", "while you are at it {items} too", "and it also needs {items}", "make it have {items} too", "have {items} on it as well"],
        slots=SLOTS, call=to_list("add_to_list"), result=added, say=say_added),
    Intent(
        "lists.more.task", weight=1.1, follows=("lists.add.task", "lists.more.task", "lists.read.task", "lists.clear.task"),
        patterns=["and {tasks}", "also {tasks}", "and also {tasks}", "and to {tasks}", "and also to {tasks}", "and i have to {tasks}", "and i need to {tasks}", "i also have to {tasks}", "i also need to {tasks}", "and then {tasks}",
                  "add {tasks}", "add {tasks} too", "add {tasks} as well", "also add {tasks}", "and add {tasks}", "now add {tasks}", "oh and {tasks}", "plus {tasks}", "add {tasks} to it", "put {tasks} on it", "put {tasks} on it too",
                  "put {tasks} on there too", "add {tasks} to that list",
                  "one more thing {tasks}", "another one {tasks}", "another task {tasks}", "one more task {tasks}", "and remind me to {tasks}", "also remind me to {tasks}", "and remind me to {tasks} too",
                  "and don't let me forget to {tasks}", "and don't forget to {tasks}", "oh and remind me to {tasks}", "and another one {tasks}", "{tasks} too", "{tasks} as well", "{tasks} also", "next task {tasks}", "then {tasks}",
                  "i should also {tasks}", "i must also {tasks}", "oh i also have to {tasks}", "and that i have to {tasks}", "and i should {tasks}", "wait also {tasks}", "i forgot i have to {tasks} too", "and a reminder to {tasks}",
                  "another reminder to {tasks}",
            "(stick|chuck|throw|pop) {tasks} on [there|it] [too|as well]", "and {tasks} please", "{tasks} please", "no i meant {tasks}", "sorry i meant {tasks}", "oh yeah {tasks}", "hang on {tasks} too", "and i've got to {tasks}",
            "and i gotta {tasks}", "i've also got to {tasks}", "gotta {tasks} too", "need to {tasks} too", "and we have to {tasks}", "and finally {tasks}", "last one {tasks}", "last thing {tasks}", "and lastly {tasks}",
            "while you're at it {tasks}", "and to {tasks} too", "and {doing}", "and also {doing}", "oh and {doing}", "could you add {tasks} to that", "same list {tasks}", "and {tasks} on there",
            "then i have to {tasks}", "after that {tasks}", "and make sure i {tasks}", "and {tobuy}", "and to {tobuy}", "also {tobuy}", "and remind me to {tobuy}", "add {tobuy} too",
        ],
        held=["and on top of that {tasks}", "{tasks} should go on there too", "while you are at it remind me to {tasks} too", "and it also needs {tasks}", "the next thing i have to do is {tasks}"],
        slots=SLOTS, call=to_list("add_to_list"), result=added, say=say_added),
    Intent(
        "lists.more.named", weight=0.9, follows=("lists.add.named", "lists.more.named", "lists.read.named", "lists.clear.named"),
        patterns=["and {things}", "also {things}", "and also {things}", "{things} too", "{things} as well", "and {things} too", "add {things}", "add {things} too", "add {things} as well", "also add {things}", "and add {things}",
                  "oh and {things}", "plus {things}", "add {things} to it", "add {things} to that list", "add {things} to the list", "put {things} on it", "put {things} on it too", "put {things} on there", "put {things} on there too",
                  "now add {things}", "then add {things}", "one more thing {things}",
                  "another thing {things}", "don't forget {things}", "and don't forget {things}", "i also need {things}", "and i need {things}", "i forgot {things}", "{things} also", "oh yes and {things}", "wait also {things}",
                  "and then {things}", "let's add {things} too", "also put {things} on it",
            "(stick|chuck|throw|pop) {things} on [there|it] [too|as well]", "and {things} please", "{things} please", "no i meant {things}", "sorry i meant {things}", "i meant {things}", "oh yeah {things}", "hang on {things} too",
            "and finally {things}", "last one {things}", "last thing {things}", "and lastly {things}", "we need {things} too", "while you're at it {things}", "could you add {things} to that", "same list {things}",
            "and {things} on there", "and {things} as well", "add {things} to it too", "then {things}", "put {things} on as well", "throw in {things} too", "we'll need {things} too", "and put {things} on",
        ],
        held=["and on top of that {things}", "{things} should go on there too", "and it also needs {things}", "while you are at it {things} too"],
        slots=SLOTS, call=to_list("add_to_list"), result=added, say=say_added),
    # The same things on another list.
    Intent(
        "lists.add.other", weight=0.7, follows=ADDS,
        patterns=["and on (the|my) {other} [too]", "no (the|my) {other}", "no on (the|my) {other}", "i meant (the|my) {other}", "no i meant (the|my) {other}", "i meant on (the|my) {other}", "sorry on (the|my) {other}",
                  "not that list (the|my) {other}", "wrong list i meant (the|my) {other}", "(put|add|stick) (it|that|them) (on|to) (the|my) {other} (too|as well|instead)", "also on (the|my) {other}", "and add (it|them|that) to (the|my) {other} [too]",
                  "put (it|that|them) on (the|my) {other}", "add (it|that|them) to (the|my) {other}", "on (the|my) {other} too", "and to (the|my) {other}", "no put (it|that|them) on (the|my) {other}", "(the|my) {other} not that one",
                  "same on (the|my) {other}", "the same on (the|my) {other}", "actually put (it|that|them) on (the|my) {other}", "(it|that) should go on (the|my) {other}", "that was for (the|my) {other}", "that belongs on (the|my) {other}",
                  "move (it|that|them) to (the|my) {other}", "on (the|my) {other} i mean"],
        held=["and how about (the|my) {other} too", "have (it|that) on (the|my) {other} as well"],
        slots=SLOTS, call=lambda v: ("add_to_list", {"list": v["other"], "items": list(v["prev"]["args"]["items"])}), result=added, say=say_added),
    Intent(
        "lists.undo", weight=0.9, follows=ADDS,
        patterns=["take it off again", "take that off again", "take them off again", "take it off", "take that off", "take that back off", "remove it again", "remove it", "remove that", "remove them again", "remove that again",
                  "delete it again", "delete that again", "delete that", "undo that", "undo", "undo it", "no take that off", "no remove that", "actually take it off", "actually remove that", "actually remove it again",
                  "never mind", "never mind take it off", "never mind remove it", "no don't add that", "no don't", "don't add that", "don't add it", "i don't need it after all", "i don't need that after all",
                  "we don't need it after all", "we don't need that", "we already have that", "oh we have that already", "i changed my mind", "i changed my mind remove it", "cancel that", "no cancel that", "cancel it", "forget it",
                  "forget that", "scratch that",
                  "no wait take it off", "oh no remove that", "take that back", "wrong take it off", "that was wrong remove it", "that's wrong take it off again", "that's not right remove it", "sorry take that off",
                  "that was a mistake", "no that was a mistake", "cross it off again", "not that", "no not that",
            "(scrap|nix|bin|ditch|lose|drop|kill) (that|it|them)", "oops take (that|it) off", "whoops take (that|it) off [again]", "nah leave it", "nah take it off", "on second thought take it off", "on second thoughts no",
            "hang on take (it|that) off", "hang on we've got some", "hang on we've got that already", "oh wait we have that", "no i don't want that",
            "no that's wrong take it off", "not that take it off", "get that off", "get it off", "knock it off again", "clear that last one", "delete the last one", "remove the last one", "take the last one off",
            "remove what you just added", "delete what i just added", "take off what i just said", "forget i said that", "forget what i said", "no forget that", "please undo", "undo that last one", "reverse that",
            "go back take that off", "don't bother", "don't bother with that", "leave that off", "leave it off", "no leave that off", "we don't want that", "you can take that off again", "actually no", "actually never mind",
            "actually don't", "actually we have that", "turns out we have that", "i found some take it off", "my mistake take it off", "my bad take that off", "no no take it off",
        ],
        held=["let's not have that after all", "i didn't want that on it", "better take it away again", "get it off again"],
        slots=SLOTS, call=to_list("remove_from_list"), result=removed, say=say_removed),
    Intent(
        "lists.remove.that", weight=1.2, follows=ADDS + READS,
        patterns=["no not {earlier}", "not {earlier}", "no not {earlier} please", "but not {earlier}", "(remove|delete|take off|cross off|drop|erase|check off|tick off) {earlier}", "(remove|delete) {earlier} again",
                  "take {earlier} off", "take {earlier} off again", "cross {earlier} off", "cross out {earlier}", "take {earlier} off it", "remove {earlier} from it", "take {earlier} off the list", "remove {earlier} from the list",
                  "remove {earlier} from that list", "delete {earlier} from it", "and remove {earlier}", "and take off {earlier}", "okay remove {earlier}", "okay take {earlier} off",
                  "actually not {earlier}", "actually remove {earlier}", "actually take {earlier} off", "no {earlier} can go", "{earlier} can go", "{earlier} can come off", "without {earlier}", "leave out {earlier}",
                  "leave {earlier} off", "skip {earlier}", "forget {earlier}", "never mind {earlier}", "you can take {earlier} off", "you can delete {earlier}", "get rid of {earlier}", "don't add {earlier}",
                  "i don't want {earlier} on it", "{earlier} done", "mark {earlier} as done", "wait not {earlier}", "oh not {earlier}", "no remove {earlier}", "no take {earlier} off", "{ticked}",
                  "{ticked} take (it|that) off", "{ticked} cross (it|that) off", "okay {ticked}", "oh {ticked}", "{earlier} off",
            "(nix|ditch|scrap|bin|lose|axe|scrub|kill) {earlier}", "but no {earlier}", "no {earlier} though", "actually no {earlier}", "{earlier} i don't need", "i don't need {earlier} [after all|anymore]",
            "we don't need {earlier} [after all|anymore]", "don't need {earlier}", "scratch {earlier}", "strike {earlier}", "tick {earlier} off", "check {earlier} off", "and cross off {earlier}", "now remove {earlier}",
            "now take {earlier} off", "just remove {earlier}", "only take {earlier} off", "not {earlier} though", "everything but not {earlier}", "{earlier} shouldn't be on (it|there)", "why is {earlier} on there take it off",
            "{earlier} take that off", "then remove {earlier}", "okay cross off {earlier}", "knock {earlier} off", "get {earlier} off [there|it]", "take {earlier} back off", "i didn't want {earlier}", "i never said {earlier}",
            "i didn't say {earlier}", "{earlier} is wrong take it off", "and {earlier} can go", "{earlier} can go too", "and take {earlier} off too", "hang on not {earlier}", "sorry not {earlier}", "minus {earlier}",
        ],
        held=["let {earlier} go", "i want {earlier} gone", "better without {earlier}", "no i didn't mean {earlier}", "have {earlier} removed"],
        slots=SLOTS, call=to_list("remove_from_list"), result=removed, say=say_removed),
    # More to take off, and what was taken off goes back.
    Intent(
        "lists.remove.more", weight=1.6, follows=("lists.remove", "lists.remove.more"),
        patterns=["and {gone}", "and {gone}", "{gone} too", "and {gone} too", "and {gone} as well", "{gone} as well", "also {gone}", "and also {gone}", "oh and {gone}", "plus {gone}", "same for {gone}", "the same for {gone}", "same with {gone}",
                  "and take {gone} off too", "take {gone} off too", "remove {gone} too", "and remove {gone}", "and cross off {gone}", "i got {gone} too", "and we got {gone} too", "and i've got {gone}", "and {gone} please", "we don't need {gone} either",
                  "and we don't need {gone} either", "no i meant {gone}", "i meant {gone}", "sorry {gone}", "no {gone}", "and {gone} can go too", "{gone} can go too", "then {gone}", "and delete {gone} too", "and also take off {gone}"],
        held=["on top of that {gone}", "while you're at it take {gone} off too"],
        slots=SLOTS, call=to_list("remove_from_list"), result=removed, say=say_removed),
    Intent(
        "lists.remove.task.more", weight=1.2, follows=("lists.remove.task", "lists.remove.task.more"),
        patterns=["and {dotask}", "and {dotask} too", "{dotask} too", "also {dotask}", "and also {dotask}", "oh and {dotask}", "same for {dotask}", "i've also {done}", "and i've {done} too", "i've {done} too",
            "and remove {dotask} too", "and cross off {dotask}",
                  "and mark {dotask} as done", "no i meant {dotask}", "i meant {dotask}", "and {dotask} is done too", "{dotask} as well", "and {dotask} please", "plus {dotask}", "and take {dotask} off too"],
        held=["on top of that {dotask}", "while you're at it {dotask} too"],
        slots=SLOTS, call=to_list("remove_from_list"), result=removed, say=say_removed),
    Intent(
        "lists.remove.named.more", weight=1.0, follows=("lists.remove.named", "lists.remove.named.more"),
        patterns=["and {onething}", "and the {onething}", "and {onething} too", "{onething} too", "also {onething}", "and also {onething}", "oh and {onething}", "same for {onething}", "take {onething} off too", "and remove {onething} too",
                  "and cross off {onething}", "no i meant {onething}", "i meant {onething}", "{onething} as well", "and {onething} please", "plus {onething}", "{onething} can go too", "and i don't need {onething} either"],
        held=["on top of that {onething}", "while you're at it {onething} too"],
        slots=SLOTS, call=to_list("remove_from_list"), result=removed, say=say_removed),
    Intent(
        "lists.putback", weight=0.9, follows=("lists.remove", "lists.remove.task", "lists.remove.named", "lists.remove.that", "lists.remove.more"),
        patterns=["put (it|that|them) back", "put (it|that|them) back on", "no put (it|that|them) back [on]", "undo that", "undo", "undo it", "add (it|that|them) again", "add (it|that|them) back", "actually keep (it|that|them)", "no keep (it|that|them)",
                  "keep (it|them) on", "keep (it|them) on there", "never mind put (it|them) back", "actually put (it|them) back", "oh no put (it|that|them) back", "i (do|still) need (it|that|them) after all",
                  "we still need (it|that|them)", "we do need (it|that|them)",
                  "we need (it|that|them) after all", "wait leave (it|that|them) on", "leave (it|that|them) on", "no leave (it|them) on", "i changed my mind put (it|them) back", "that was a mistake put (it|them) back",
                  "oops put (it|them) back", "no don't remove (it|that|them)",
                  "don't delete (it|that|them)", "don't take (it|that|them) off", "put (it|that|them) on again", "bring (it|that|them) back", "restore (it|that)", "back on the list please", "sorry put (it|them) back on the list"],
        held=["let's have (it|that) back on", "i want (it|that) on there after all"],
        slots=SLOTS, call=to_list("add_to_list"), result=added, say=say_added),
    Intent(
        "lists.read.again", weight=1.3, follows=ADDS + REMOVES + READS + ("lists.clear", "lists.clear.task", "lists.clear.named"),
        patterns=["what else is on it", "what else is on the list", "what else is on there", "what's on it", "what's on it now", "what is on it now", "what's on the list now", "what's on there now", "what's on that list",
                  "what is on the list now", "what do i have on it now", "what do we have on it", "what do we have now", "so what's on it now", "and what's on it now", "and now what's on it", "read it", "read it to me", "read it back",
                  "read it back to me", "read it out", "read it again", "read the list", "read me the list",
                  "read the whole list", "read me the whole list", "read that list", "show me the list", "show it to me", "tell me what's on it", "let me hear it", "let me hear the list", "how does it look now",
                  "how many things are on it", "how many items are on it now", "is that everything on it", "is there anything else on it", "anything else on it", "anything else on the list", "anything else", "what else", "what's left",
                  "what's left on it", "what's still on it", "is it empty now", "is it empty", "is anything left on it", "what does it say now", "the whole list please", "give me the list", "list everything", "and what else",
                  "repeat the list", "go over it again",
            "so what's on there", "so what's on it", "what's on there so far", "what's on it so far", "what have (i|we) got so far", "what've we got so far", "what does that leave", "run it by me", "read it back to me then",
            "what's the list now", "what's the list look like now", "what does the list look like", "show me it", "let's hear it", "let's see it", "read that back", "read it all", "read them all", "read everything",
            "read me everything", "say it again", "can you repeat it", "repeat that", "repeat it", "again", "is that all", "is that everything", "is that it",
            "how many are on there", "how many things is that", "what was on it again", "what's on my list now", "what else have i got on there", "what else have we got", "anything else on there", "is there more",
            "any more", "and the rest", "what's the rest", "what remains", "what's there now", "check it for me", "did you add it", "did it get added", "did that go on", "was it added", "is it on there now", "so is it on there now",
            "is {one} on it", "is {one} on there", "is {one} already on it", "is {one} on there already", "did i put {one} on it", "did i already add {one}", "have i got {one} on it", "is there {one} on it", "and is {one} on it",
            "what about {one} is (it|that) on there", "are {plural} on it", "are {plural} on there", "have we got {one} on there", "did you add {one}",
        ],
        held=["how is the list looking", "i'd like to hear all of it", "tell me everything that's on there", "so what have we got now", "and what does the list have now"],
        slots=SLOTS, call=to_list("read_list"), result=read, say=say_read),
    Intent(
        "lists.read.other", weight=0.9, follows=("lists.read", "lists.read.task", "lists.read.named", "lists.read.other"),
        patterns=["and (the|my) {other}", "and on (the|my) {other}", "what about (the|my) {other}", "and what about (the|my) {other}", "how about (the|my) {other}", "and what's on (the|my) {other}", "and (the|my) {other} too",
                  "now (the|my) {other}", "the same for (the|my) {other}", "also (the|my) {other}", "no (the|my) {other}", "no i meant (the|my) {other}", "i meant (the|my) {other}", "not that one (the|my) {other}",
                  "okay and (the|my) {other}", "and read (the|my) {other}", "now read (the|my) {other}", "and for (the|my) {other}", "then (the|my) {other}",
                  "and is there anything on (the|my) {other}", "anything on (the|my) {other}", "and show me (the|my) {other}",
            "and (the|my) {other} please", "{other}", "and {other}", "what about {other}", "now {other}", "what's on (the|my) {other}", "and what about what's on (the|my) {other}", "i meant what's on (the|my) {other}",
            "no read (the|my) {other}", "same for (the|my) {other}", "not that (the|my) {other}", "sorry (the|my) {other}", "sorry i meant (the|my) {other}", "wrong list (the|my) {other}",
            "that's the wrong list i want (the|my) {other}", "how's (the|my) {other}", "okay now (the|my) {other}", "next (the|my) {other}", "go to (the|my) {other}", "check (the|my) {other} too", "do (the|my) {other}",
            "what have i got on (the|my) {other}",
        ],
        held=["next tell me about (the|my) {other}", "let's go to (the|my) {other}", "and how does (the|my) {other} look"],
        slots=SLOTS, call=lambda v: ("read_list", {"list": v["other"]}), result=read, say=say_read),
    Intent(
        "lists.clear.it", weight=0.7, follows=ADDS + READS + ("lists.remove", "lists.remove.task", "lists.remove.named"),
        patterns=["clear it", "clear the list", "clear that list", "clear all of it", "clear it all", "empty it", "empty the list", "empty that list", "empty it out", "wipe it", "wipe it clean", "wipe the list", "erase it all",
                  "erase the list", "erase all of it", "delete everything", "delete everything on it", "delete it all", "delete all of it", "delete the list", "delete the whole list", "delete that list", "remove everything",
                  "remove everything on it", "remove everything from it",
                  "remove all of it", "remove all of them", "take everything off", "take everything off it", "take it all off", "cross everything off", "get rid of everything on it", "get rid of the list", "get rid of it all",
                  "start a new one", "start over", "start it over", "start from scratch", "clear the whole list", "okay clear it", "now clear it", "and now clear it", "i have everything clear it", "it's all done clear it",
                  "all done clear the list", "all of that is done", "i'm done with all of it", "forget the whole list", "reset it", "reset the list", "make it empty",
            "(bin|scrap|ditch|kill|nuke|dump|nix|chuck) (it|it all|the lot|the list|the whole list)", "clear the lot", "delete the lot", "wipe the lot", "get rid of the lot", "take the lot off", "delete them all", "clear them all",
            "cross them all off", "tick them all off", "tick off everything", "tick everything off", "check everything off", "mark it all as done", "mark everything as done", "i got everything", "i got it all", "i've got everything",
            "got everything", "got it all", "i did all of that", "i've done all of that", "i did everything", "i finished everything", "finished everything", "everything is done",
            "everything's done clear it", "okay wipe it", "right clear it", "start fresh", "start afresh", "clean slate", "now empty it", "and now empty it", "blank it", "blank the list", "erase everything", "drop everything",
            "we don't need any of it", "i don't need any of it anymore", "none of it is needed anymore", "forget all of it", "forget everything on it", "make it blank",
        ],
        held=["i want it all gone", "have it cleared", "nothing on it should stay", "let's have it empty"],
        slots=SLOTS, call=to_list("clear_list"), result=cleared, say=say_cleared),
]
